(function_definition declarator: (_) @declarator body: (compound_statement) @body) @function
(declaration declarator: (function_declarator) @declarator) @constant
(declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @constant
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(enumerator name: (_) @name) @field
(field_declaration declarator: (_)) @field
(field_declaration type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)
  (enum_specifier !name body: (_) @body)] !declarator) @class
(field_declaration type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)
  (enum_specifier body: (_) @body)] declarator: (_) @declarator) @class
; A type that has the name of its struct is that struct.
(type_definition type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)
  (enum_specifier !name body: (_) @body)] declarator: (_) @declarator) @class
(type_definition type: [(struct_specifier name: (_) @_tag body: (_) @body)
  (union_specifier name: (_) @_tag body: (_) @body) (enum_specifier name: (_) @_tag body: (_) @body)]
  declarator: (_) @declarator (#not-eq? @_tag @declarator)) @class
(type_definition type: [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)
  (type_identifier) (primitive_type) (sized_type_specifier) (macro_type_specifier)]
  declarator: (_) @declarator) @type
(declaration type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)
  (enum_specifier body: (_) @body)] declarator: (_) @declarator) @class
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator
  value: (initializer_list) @body)) @constant (#match? @body "\n"))
(translation_unit (declaration declarator: [(init_declarator declarator: (_) @declarator) (identifier) @name
  (array_declarator) @declarator (pointer_declarator declarator: (identifier)) @declarator]) @constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: (_) @declarator
  value: (initializer_list) @body)) @constant (#match? @body "\n"))
(preproc_ifdef (declaration declarator: [(init_declarator declarator: (_) @declarator) (identifier) @name
  (array_declarator) @declarator (pointer_declarator declarator: (identifier)) @declarator]) @constant)
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name parameters: (_) value: (_) @body) @function

(function_definition declarator: (_) @declarator body: (compound_statement) @body) @function
(declaration declarator: (function_declarator) @declarator) @constant
(declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @constant
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(enumerator name: (_) @name) @field
(field_declaration) @field
(type_definition type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)
  (enum_specifier !name body: (_) @body)] declarator: (_) @declarator) @class
(type_definition declarator: (_) @declarator) @type
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator)) @constant)
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name parameters: (_) value: (_) @body) @function

(function_definition declarator: (_) @declarator body: (compound_statement) @body) @function
(function_definition declarator: (_) @declarator . (field_initializer_list) @body) @function
(function_definition declarator: (_) @declarator !body) @function
(declaration declarator: (function_declarator) @declarator) @constant
(declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @constant
(declaration declarator: (reference_declarator (function_declarator)) @declarator) @constant
(field_declaration) @field
(class_specifier name: (_) @name body: (_) @body) @class
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(enumerator name: (_) @name) @field
(namespace_definition body: (_) @body) @class
(concept_definition name: (_) @name) @type
(alias_declaration name: (_) @name) @type
(type_definition type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)
  (enum_specifier !name body: (_) @body)] declarator: (_) @declarator) @class
(type_definition declarator: (_) @declarator) @type
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator)) @constant)
(declaration_list (declaration declarator: (init_declarator declarator: (_) @declarator)) @constant)
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name parameters: (_) value: (_) @body) @function

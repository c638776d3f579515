(function_definition declarator: (_) @declarator body: (compound_statement) @body) @function
(function_definition declarator: (_) @declarator . (field_initializer_list) @body) @function
(function_definition declarator: (_) @declarator !body) @function
(declaration declarator: (function_declarator) @declarator) @constant
(declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @constant
(declaration declarator: (reference_declarator (function_declarator)) @declarator) @constant
(field_declaration declarator: (_)) @field
(field_declaration type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)
  (class_specifier !name body: (_) @body) (enum_specifier !name body: (_) @body)] !declarator) @class
(field_declaration type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)
  (class_specifier body: (_) @body) (enum_specifier body: (_) @body)] declarator: (_) @declarator) @class
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
(type_definition type: [(struct_specifier name: (_) @_tag body: (_) @body)
  (union_specifier name: (_) @_tag body: (_) @body) (enum_specifier name: (_) @_tag body: (_) @body)]
  declarator: (_) @declarator (#not-eq? @_tag @declarator)) @class
(type_definition type: [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)
  (type_identifier) (primitive_type) (sized_type_specifier) (template_type) (qualified_identifier)
  (dependent_type) (decltype)] declarator: (_) @declarator) @type
(declaration type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body)
  (class_specifier body: (_) @body) (enum_specifier body: (_) @body)] declarator: (_) @declarator) @class
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator
  value: (initializer_list) @body)) @constant (#match? @body "\n"))
(translation_unit (declaration declarator: [(init_declarator declarator: (_) @declarator) (identifier) @name
  (array_declarator) @declarator (pointer_declarator declarator: (identifier)) @declarator]) @constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: (_) @declarator
  value: (initializer_list) @body)) @constant (#match? @body "\n"))
(preproc_ifdef (declaration declarator: [(init_declarator declarator: (_) @declarator) (identifier) @name
  (array_declarator) @declarator (pointer_declarator declarator: (identifier)) @declarator]) @constant)
(declaration_list (declaration declarator: (init_declarator declarator: (_) @declarator
  value: (initializer_list) @body)) @constant (#match? @body "\n"))
(declaration_list (declaration declarator: [(init_declarator declarator: (_) @declarator) (identifier) @name
  (array_declarator) @declarator (pointer_declarator declarator: (identifier)) @declarator]) @constant)
(preproc_def name: (_) @name value: (_)) @constant
(preproc_function_def name: (_) @name parameters: (_) value: (_) @body) @function
; Blocks of tests (Catch2, doctest): the grammar takes the macro for a call in front of a block.
((expression_statement (call_expression function: (identifier) @_call
    arguments: (argument_list . (string_literal) @name)) @signature)
  . (compound_statement) @body @section
  (#any-of? @_call "TEST_CASE" "SECTION" "SUBCASE" "SCENARIO" "GIVEN"
    "WHEN" "THEN" "AND_WHEN" "AND_THEN"))

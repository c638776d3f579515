(class_declaration name: (_) @name (class_body) @body) @class
(class_declaration name: (_) @name (enum_class_body) @body) @class
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name (class_body) @body) @class
(object_declaration name: (_) @name) @class
(companion_object (class_body) @body) @class
(function_declaration name: (_) @name (function_body) @body) @function
(function_declaration name: (_) @name) @function
(secondary_constructor (block) @body) @function
(anonymous_initializer (block) @body) @function
(source_file (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)] @body) @field)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @field)
(class_body (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)] @body) @field)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)] @body) @field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(ERROR (property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)] @body) @field)
(ERROR (property_declaration (variable_declaration . (identifier) @name)) @field)
(type_alias type: (_) @name) @type
(enum_entry . (identifier) @name) @field
; The grammar takes an annotated class without a body for words in a row.
(infix_expression . (identifier) @_word . (identifier) @class @name (#eq? @_word "class"))
(infix_expression . (identifier) @_word . (identifier) @_other . (identifier) @class @name (#eq? @_other "class")
  (#any-of? @_word "annotation" "data" "sealed" "open" "abstract" "internal" "private" "public"))
; Blocks of tests (Kotest, Spek).
(class_declaration name: (_) @name (delegation_specifiers (delegation_specifier
  (constructor_invocation (value_arguments . (value_argument (lambda_literal) @body)))))) @class
(call_expression (call_expression (identifier) @_call (value_arguments . (value_argument (string_literal) @name)))
  (annotated_lambda (lambda_literal) @body)
  (#any-of? @_call "test" "describe" "context" "it" "should" "expect" "feature" "scenario" "group"
    "given" "then" "Given" "When" "Then" "And")) @section
(call_expression . (string_literal) @name (annotated_lambda (lambda_literal) @body)) @section

(function_declaration name: (identifier) @name body: (statement_block) @body) @function
(generator_function_declaration name: (identifier) @name body: (statement_block) @body) @function
(function_signature name: (identifier) @name) @function
(class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(abstract_class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(interface_declaration name: (type_identifier) @name body: (_) @body) @class
(internal_module name: (_) @name body: (statement_block) @body) @class
(module name: (_) @name body: (statement_block) @body) @class
(enum_declaration name: (identifier) @name body: (enum_body) @body) @type
(enum_body [(property_identifier) (string)] @name @field)
(enum_body (enum_assignment name: (_) @name) @field)
(type_alias_declaration name: (type_identifier) @name) @type
(method_definition name: (_) @name body: (statement_block) @body) @function
(class_body (method_signature name: (_) @name) @function)
(abstract_method_signature name: (_) @name) @function
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(public_field_definition name: (_) @name) @field
(interface_body (property_signature name: (_) @name) @field)
(interface_body (method_signature name: (_) @name) @field)
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (class body: (_) @body)])) @function
(expression_statement (assignment_expression left: (member_expression) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(program (_ (variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function))))
(program (export_statement (lexical_declaration (variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function)))))
(program (export_statement value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function)))
(program ([(lexical_declaration . (variable_declarator name: (identifier) @name value: (_) @_value))
  (variable_declaration . (variable_declarator name: (identifier) @name value: (_) @_value))] @constant
  (#not-match? @_value "^require\\b")))
(program (lexical_declaration . (variable_declarator name: (identifier) @name !value)) @constant)
(ambient_declaration [(lexical_declaration . (variable_declarator name: (identifier) @name))
  (variable_declaration . (variable_declarator name: (identifier) @name))] @constant)
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name)) @constant))
; Of an object with functions the signature is its header, since the functions have entries of their own.
(program ([(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(object (method_definition)) (object (pair value: [(arrow_function) (function_expression)]))] @body))
  (variable_declaration . (variable_declarator name: (identifier) @name
  value: [(object (method_definition)) (object (pair value: [(arrow_function) (function_expression)]))] @body))]
  @constant))
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(object (method_definition)) (object (pair value: [(arrow_function) (function_expression)]))] @body))
  @constant))
; Blocks of tests.
(expression_statement (call_expression
  function: [(identifier) @_call (member_expression object: (identifier) @_call)
    (call_expression function: (member_expression object: (identifier) @_call))]
  arguments: (arguments . [(string) (template_string)] @name
    [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#any-of? @_call "describe" "it" "test" "suite" "context" "specify" "bench")) @section

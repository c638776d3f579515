(function_declaration name: (identifier) @name body: (statement_block) @body) @function
(generator_function_declaration name: (identifier) @name body: (statement_block) @body) @function
(class_declaration name: (identifier) @name body: (class_body) @body) @class
(method_definition name: (_) @name body: (statement_block) @body) @function
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(field_definition property: (_) @name) @field
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (class body: (_) @body)])) @function
(variable_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(expression_statement (assignment_expression left: (member_expression) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(export_statement "default" value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(variable_declaration . (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @class
; Tables of functions: what a module exports, options of a component.
(program (_ (variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function))))
(program (export_statement (lexical_declaration (variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function)))))
(program (export_statement value: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function)))
(program (expression_statement (assignment_expression left: (member_expression) right: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function))))
(program ([(lexical_declaration . (variable_declarator name: (identifier) @name value: (_) @_value))
  (variable_declaration . (variable_declarator name: (identifier) @name value: (_) @_value))] @constant
  (#not-match? @_value "^require\\b")))
(program (export_statement (lexical_declaration . (variable_declarator name: (identifier) @name)) @constant))

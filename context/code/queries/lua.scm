(function_declaration name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name !body "end" @body) @function
(variable_declaration (assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (function_definition parameters: (_) . [(_) "end"] @body)))) @function
(chunk (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name
    . )
  (expression_list . value: (function_definition parameters: (_) . [(_) "end"] @body))) @function)
(block (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name)
  (expression_list . value: (function_definition parameters: (_) . [(_) "end"] @body))) @function)
(field name: (_) @name value: (function_definition parameters: (_) . [(_) "end"] @body)) @function
(chunk (variable_declaration (assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (table_constructor (_)) @body))) @constant)
(chunk (variable_declaration (assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (_) @_value (#not-match? @_value "^require\\b")))) @constant)
(chunk (assignment_statement (variable_list . name: (dot_index_expression) @name)
  (expression_list . value: (function_call arguments: (_) @body))) @constant)
(chunk (assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @name)) @constant)
; Blocks of tests (busted).
(function_call name: (identifier) @_call
  arguments: (arguments . (string) @name (function_definition parameters: (_) . [(_) "end"] @body))
  (#any-of? @_call "describe" "context" "it" "test" "spec" "insulate" "expose" "pending")) @section

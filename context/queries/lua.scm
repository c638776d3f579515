(function_declaration name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name !body "end" @body) @function
(assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_) @body))) @function
(field name: (_) @name value: (function_definition body: (_) @body)) @function
(chunk (variable_declaration (assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (table_constructor (_)) @body))) @constant)
(chunk (variable_declaration (assignment_statement (variable_list . name: (_) @name))) @constant)

(function_definition name: (_) @name body: (_) @body) @function
(program (variable_assignment name: (_) @name) @constant)
(program (declaration_command (variable_assignment name: (_) @name)) @constant)
(program (command name: (command_name) @_command (#eq? @_command "alias")) @constant)

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name !body) @function
(program (expression_statement (assignment_expression left: (_) @name
  right: [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]) @function))
(program (expression_statement (function_call_expression function: (name) @_called
  arguments: (arguments . (argument (string (string_content) @name)))) @constant (#eq? @_called "define")))
(enum_declaration_list (const_declaration (const_element (name) @name)) @field)
(property_declaration (property_element name: (variable_name (name) @name))) @field
(declaration_list (const_declaration (const_element (name) @name)) @field)
(program (const_declaration (const_element (name) @name)) @constant)
(enum_case name: (_) @name) @field
; Blocks of tests (Pest).
(function_call_expression function: (name) @_call
  arguments: (arguments . (argument [(string) (encapsed_string)] @name)
    (argument [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]))
  (#any-of? @_call "describe" "it" "test")) @section

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name !body) @function
(anonymous_function body: (_) @body) @function
(property_declaration (property_element name: (variable_name (name) @name))) @field
(declaration_list (const_declaration (const_element (name) @name)) @field)
(program (const_declaration (const_element (name) @name)) @constant)
(enum_case name: (_) @name) @field

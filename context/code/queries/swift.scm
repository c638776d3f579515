(class_declaration name: (_) @name body: (_) @body) @class
(protocol_declaration name: (_) @name body: (_) @body) @class
(function_declaration name: (simple_identifier) @name body: (_) @body) @function
(function_declaration name: [(custom_operator) "==" "!=" "<" ">" "<=" ">=" "+" "-" "*" "/" "%" "+=" "-=" "!"] @name
  body: (_) @body) @function
(protocol_function_declaration name: (simple_identifier) @name) @function
(init_declaration body: (_) @body) @function
(deinit_declaration body: (_) @body) @function
(subscript_declaration (computed_property) @body) @function
(property_declaration name: (pattern bound_identifier: (_) @name) computed_value: (_) @body) @field
(property_declaration name: (pattern bound_identifier: (_) @name)) @field
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @field
(associatedtype_declaration name: (_) @name) @field
(enum_entry name: (_) @name) @field
(typealias_declaration . name: (type_identifier) @name) @type

(class_definition name: (_) @name body: (_) @body) @class
(class_definition name: (_) @name !body) @class
(trait_definition name: (_) @name body: (_) @body) @class
(trait_definition name: (_) @name !body) @class
(object_definition name: (_) @name body: (_) @body) @class
(object_definition name: (_) @name !body) @class
(enum_definition name: (_) @name body: (_) @body) @class
(given_definition body: (_) @body) @class
(extension_definition body: (_) @body) @class
(function_definition name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name) @function
(val_definition pattern: (identifier) @name) @field
(var_definition pattern: (identifier) @name) @field
(val_declaration name: (_) @name) @field
(type_definition name: (_) @name) @type
(simple_enum_case name: (_) @name) @field
(full_enum_case name: (_) @name) @field

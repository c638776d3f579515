(namespace_declaration name: (_) @name body: (_) @body) @class
(class_declaration name: (_) @name body: (_) @body) @class
(struct_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name !body) @type
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name !body) @function
(constructor_declaration name: (_) @name body: (_) @body) @function
(destructor_declaration name: (_) @name body: (_) @body) @function
(operator_declaration body: (_) @body) @function
(local_function_statement name: (_) @name body: (_) @body) @function
(indexer_declaration value: (_) @body) @function
(indexer_declaration accessors: (_) @body) @function
(property_declaration name: (_) @name accessors: (_) @body) @field
(property_declaration name: (_) @name value: (_) @body) @field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(enum_member_declaration name: (_) @name) @field

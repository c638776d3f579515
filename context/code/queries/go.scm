(function_declaration name: (identifier) @name body: (block) @body) @function
(method_declaration name: (field_identifier) @name body: (block) @body) @function
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @class
(type_spec name: (type_identifier) @name type: (interface_type "interface" . "{" @body)) @class
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(field_declaration) @field
(method_elem name: (field_identifier) @name) @field
(source_file (const_declaration (const_spec name: (identifier) @name) @constant) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec name: (identifier) @name) @constant) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @constant)) (#not-eq? @name "_"))

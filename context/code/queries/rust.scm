(function_item name: (_) @name body: (block) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (field_declaration_list) @body) @class
(struct_item name: (_) @name !body) @type
(struct_item name: (_) @name body: (ordered_field_declaration_list)) @type
(union_item name: (_) @name body: (_) @body) @class
(enum_item name: (_) @name body: (_) @body) @class
(enum_variant name: (_) @name) @field
(struct_item body: (field_declaration_list (field_declaration name: (_) @name) @field))
(union_item body: (field_declaration_list (field_declaration name: (_) @name) @field))
(associated_type name: (_) @name) @field
(trait_item name: (_) @name body: (declaration_list) @body) @class
(impl_item type: (_) @name body: (declaration_list) @body) @class
(mod_item name: (_) @name body: (declaration_list) @body) @class
(mod_item name: (_) @name !body) @constant
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(macro_definition name: (_) @name . (_) @body) @function

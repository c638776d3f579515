(function_declaration name: (_) @name body: (_) @body) @function
(function_declaration name: (_) @name !body) @function
(test_declaration (block) @body) @function
(variable_declaration . (identifier) @name . [(struct_declaration "{" @body) (enum_declaration "{" @body)
  (union_declaration "{" @body)]) @class
(container_field name: (_) @name type: [(struct_declaration "{" @body) (enum_declaration "{" @body)
  (union_declaration "{" @body)]) @class
(container_field name: (_) @name) @field
(source_file ((variable_declaration . (identifier) @name (_) @_value) @constant
  (#not-match? @_value "^@import\\([^)]*\\)$")))
(struct_declaration (variable_declaration . (identifier) @name) @constant)

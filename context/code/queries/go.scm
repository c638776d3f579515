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
; Blocks of tests (Ginkgo).
(call_expression function: (identifier) @_call
  arguments: (argument_list . (interpreted_string_literal) @name (func_literal body: (block) @body))
  (#any-of? @_call "Describe" "Context" "When" "It" "Specify" "FDescribe" "FContext" "FIt" "PDescribe" "PIt"))
  @section

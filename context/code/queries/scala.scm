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
; Blocks of tests (ScalaTest, specs2, MUnit).
(call_expression function: (call_expression function: (identifier) @_call arguments: (arguments . (string) @name))
  arguments: [(block) (case_block)] @body
  (#any-of? @_call "test" "describe" "it" "they" "ignore" "property" "Feature" "Scenario" "feature" "scenario"))
  @section
(infix_expression left: (string) @name operator: (_) @_call right: (block) @body
  (#any-of? @_call "in" "ignore" "should" "must" "can" "when" "which" "that" "-" ">>" "!")) @section
(infix_expression left: (infix_expression operator: (_) @_verb right: (string)) @name operator: (_) @_call
  right: (block) @body
  (#any-of? @_verb "should" "must" "can") (#any-of? @_call "in" "ignore")) @section

(module name: (_) @name body: (_) @body) @class
(class name: (_) @name body: (_) @body) @class
(class name: (_) @name !body "end" @body) @class
(singleton_class body: (_) @body) @class
(method name: (_) @name body: (_) @body) @function
(method name: (_) @name !body "end" @body) @function
(singleton_method name: (_) @name body: (_) @body) @function
(singleton_method name: (_) @name !body "end" @body) @function
(assignment left: (constant) @name) @constant
(call method: (identifier) @_call arguments: (argument_list)
  (#any-of? @_call "attr_reader" "attr_writer" "attr_accessor" "has_many" "has_one" "belongs_to" "scope"
    "delegate" "define_method" "alias_method")) @field
(alias name: (_) @name) @field
; What is private is said by a line of its own, in front of a definition, or by name.
(body_statement ((identifier) @field (#any-of? @field "private" "protected" "public" "module_function")))
(call method: (identifier) @_call arguments: (argument_list . (simple_symbol))
  (#any-of? @_call "private" "protected" "public" "module_function" "private_class_method" "private_constant"
    "public_class_method")) @field
; Blocks of tests.
(call method: [(identifier) (constant)] @_call arguments: (argument_list . (_) @name) block: (_) @body
  (#any-of? @_call "describe" "context" "it" "specify" "feature" "scenario" "should" "test" "shared_examples"
    "Given" "When" "Then")) @section

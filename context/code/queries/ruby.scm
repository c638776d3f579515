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
    "delegate" "define_method")) @field

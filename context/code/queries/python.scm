; A capture named for a kind is the definition; @name its name; @body where its signature ends.
(function_definition name: (identifier) @name body: (block) @body) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(class_definition body: (block (expression_statement ((assignment left: (identifier) @name) @field
  (#not-eq? @name "__slots__")))))
(module (expression_statement (assignment left: (identifier) @name) @constant))
(module (type_alias_statement left: (type) @name) @type)

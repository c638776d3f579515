(create_table (object_reference name: (_) @name) (column_definitions) @body) @class
(create_table (object_reference name: (_) @name)) @class
(create_view (object_reference name: (_) @name) (create_query) @body) @class
(create_materialized_view (object_reference name: (_) @name) (create_query) @body) @class
(create_function (object_reference name: (_) @name) (function_body) @body) @function
(create_index column: (_) @name) @type
(create_type (object_reference name: (_) @name)) @type
(create_trigger (object_reference name: (_) @name)) @type
(column_definitions (column_definition name: (_) @name) @field)
(alter_table (object_reference name: (_) @name)) @constant

(create_table (object_reference name: (_) @name) (column_definitions) @body) @class
(create_table (object_reference name: (_) @name)) @class
(create_view (object_reference name: (_) @name) (create_query) @body) @class
(create_materialized_view (object_reference name: (_) @name) (create_query) @body) @class
(create_function (object_reference name: (_) @name) (function_body) @body) @function
(create_index column: (_) @name) @type
(create_type (object_reference name: (_) @name)) @type
(create_trigger (object_reference name: (_) @name)) @type
(column_definitions (column_definition name: (_) @name) @field)
(alter_table (object_reference name: (_) @name) [(add_column) (add_constraint) (drop_column) (rename_column) (rename_object)]) @constant
(create_procedure (object_reference name: (_) @name) (procedure_body) @body) @function
(create_schema (identifier) @name) @type
(create_extension (identifier) @name) @constant
(create_policy (object_reference name: (_) @name)) @type

(table . (_) @name . (pair) @body) @section
(table . (_) @name) @section
(table_array_element . (_) @name . (pair) @body) @section
(table_array_element . (_) @name) @section
(document (pair . (_) @name) @section)
(table (pair . (_) @name) @section)
(table_array_element (pair . (_) @name) @section)

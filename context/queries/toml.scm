(table . (_) @name . (pair) @body) @section
(table . (_) @name) @section
(table_array_element . (_) @name . (pair) @body) @section
(table_array_element . (_) @name) @section
(pair . (_) @name) @section

(block_mapping_pair key: (_) @name value: (block_node) @body) @section
(block_mapping_pair key: (_) @name) @section

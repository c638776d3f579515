(rule_set (selectors) @name (block) @body) @section
(media_statement (block) @body) @section
(supports_statement (block) @body) @section
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @section
(declaration (property_name) @name (#match? @name "^--")) @section

(element (start_tag (attribute (attribute_name) @_attribute (quoted_attribute_value (attribute_value) @name))
  (#eq? @_attribute "id")) @signature) @section
(element (self_closing_tag (attribute (attribute_name) @_attribute
  (quoted_attribute_value (attribute_value) @name)) (#eq? @_attribute "id")) @signature) @section
(element (start_tag (tag_name) @_tag (#match? @_tag "^(h[1-4]|title)$"))) @section
(element (start_tag (tag_name) @_tag (#match? @_tag "-")) @signature) @section
(script_element (start_tag (attribute (attribute_name) @_attribute (#eq? @_attribute "src"))) @signature) @section
(script_element (raw_text) @embedded (#set! language "typescript"))
(style_element (raw_text) @embedded (#set! language "css"))

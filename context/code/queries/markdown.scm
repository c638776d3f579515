(section . (atx_heading heading_content: (_) @name) @signature) @section
(setext_heading heading_content: (_) @name @signature) @section
(fenced_code_block (info_string (language) @language) (code_fence_content) @embedded)

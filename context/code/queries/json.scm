(pair key: (_) @name value: [(object) (array)] @body) @section
(pair key: (_) @name) @section

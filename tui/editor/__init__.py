"""The editor pane: the open file, its landed hunks, the one in flight, suggestions and signs."""

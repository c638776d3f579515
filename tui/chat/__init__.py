"""The chat pane: scrolling, reading, searching and painting the rows of the conversation."""

"""The chat pane: the conversation as rows."""

"""The replay of a session through the real panes, without a model and without the project's files."""

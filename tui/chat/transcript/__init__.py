"""The entries of the conversation and their rows, without any widget."""

"""The model's tools: reading the project and, where the user allows it, running a command."""

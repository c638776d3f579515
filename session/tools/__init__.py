"""What a model can do besides writing: look at the project and, where the user allows it, run a command."""

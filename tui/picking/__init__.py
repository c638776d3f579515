"""Lists to pick from: keys and commands, earlier prompts, themes, sessions."""

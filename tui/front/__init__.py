"""What every front end shares: the keys, slash commands, wording, printing and exit codes."""

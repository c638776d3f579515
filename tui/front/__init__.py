"""What every front end shares: keys, slash commands, matching, wording, printing and exit codes."""

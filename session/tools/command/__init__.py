"""The tool that runs a shell command with the user's consent."""

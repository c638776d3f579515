"""The tools that a model may call: reading the project, running a command, and MCP servers."""

"""One turn: preparing the request, running it, landing its edits, answering its tool calls."""

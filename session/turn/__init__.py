"""One turn: preparing the request, running it, landing its edits; and the memory between turns."""

"""The memory between turns: the conversation, past turns and edited files."""

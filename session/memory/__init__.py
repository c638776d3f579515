"""What one turn leaves for the next: the conversation, past turns and edited files."""

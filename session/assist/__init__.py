"""What spark does for the editor beside the conversation: reviews on save, refactors in place, next edits."""

"""What the user can order outside a turn: undo, locks, models, the window, compaction, apply."""

"""Commands outside a turn: undo, locks, models, the window, compaction, apply."""

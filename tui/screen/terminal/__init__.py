"""The terminal: Textual's driver, its input and frames, start-up, signals, and lending it."""

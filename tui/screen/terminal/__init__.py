"""The terminal: Textual's driver, keys typed early, signals and stops."""

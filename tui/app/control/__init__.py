"""What the keys do: send and stop, open and save, undo and redo, quit, and the screens over the panes."""

"""The screen: the terminal and its input, drawing, the clipboard, and how spark looks and calls."""

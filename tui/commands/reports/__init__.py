"""Commands that show the window and the usage."""

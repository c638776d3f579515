"""Copying out of spark: to the terminal's clipboard, to tmux, or to a file."""

"""How the screen looks and calls: its theme, lean drawing over slow lines, titles and notifications."""

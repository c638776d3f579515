"""How the screen begins: the theme that the user chose, or the one for the terminal's background."""

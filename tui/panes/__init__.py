"""The panes of the screen, and the plain parts they are made of."""

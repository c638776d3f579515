"""The project map: outlines and paths of the files, fitted to a budget."""

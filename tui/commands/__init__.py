"""One module per command of the command line, imported when it is run."""

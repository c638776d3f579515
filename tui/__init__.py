"""The front ends: the command line, the Textual app, the headless printer."""

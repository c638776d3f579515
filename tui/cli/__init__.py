"""The command line: the commands, their options, and what all of them share."""

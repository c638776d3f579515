"""The files that spark keeps: the XDG folders, private files of lines, the log of faults."""

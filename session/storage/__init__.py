"""Where spark keeps its files: the XDG folders, and private files of lines."""

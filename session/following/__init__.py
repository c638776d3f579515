"""Following a session that another process has, until this one can take it over."""

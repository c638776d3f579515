"""The partner's scripts: scenarios, hunks and redirects, read from TOML."""

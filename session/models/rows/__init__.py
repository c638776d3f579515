"""The command that makes the models' rows from a public table and spark's own rows."""

"""Surgery: one landed hunk is taken out, with those that depend on it, and the rest stays as it is."""

"""Surgery: one landed hunk is taken out or amended, with those that depend on it; the rest stays."""

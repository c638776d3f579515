"""Finding and replacing text in an open file, without a screen."""

"""Finding the one place in a file where a hunk belongs: a ladder of ever looser comparisons."""

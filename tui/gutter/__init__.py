"""The signs beside the lines of an open file: which there are, and where they stand, without a screen."""

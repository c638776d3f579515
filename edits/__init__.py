"""Text in, hunks out, bytes on disk: parse a model's edits as they stream, place, land and undo them."""

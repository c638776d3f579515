"""Trust: which files of a project may instruct the model or set something, by what they say."""

"""Finding the files a request is about: mentions, completion and ranking."""

"""The terminal: Textual's driver, typeahead and interruptible input."""

"""Next edits in the editor: the place that is offered, and the keys that take it or go on."""

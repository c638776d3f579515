"""Commands typed in place of a prompt, such as ``/undo h3``, and what Tab completes."""

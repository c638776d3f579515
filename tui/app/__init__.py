"""The Textual app: starting it, its parts, and ending it; its features stand in the rooms beside."""

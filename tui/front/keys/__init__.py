"""The table of keys, and handling keys in the order they were pressed."""

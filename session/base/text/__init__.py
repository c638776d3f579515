"""Text from outside made safe to show, help with mistyped names, and the reader of TOML tables."""

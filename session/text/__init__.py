"""Text from outside made safe to show, and help with mistyped names."""

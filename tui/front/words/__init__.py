"""What the front ends say: figures and tables."""

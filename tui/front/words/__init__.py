"""What the front ends say: figures, tables, and lines about checks and windows."""

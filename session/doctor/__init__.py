"""What ``spark doctor`` looks at."""

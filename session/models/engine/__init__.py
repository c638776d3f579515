"""The embedded engine: llama.cpp in a process of its own on this machine's loopback, and its models."""

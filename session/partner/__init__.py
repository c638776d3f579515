"""The partner: a real model server on loopback that answers from scripts, at any pace."""

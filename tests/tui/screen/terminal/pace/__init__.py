"""Tests of the pace of frames over slow lines."""

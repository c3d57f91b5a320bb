"""Descriptions that no single engine takes, cut into graphs that have engines."""

"""Recorded calls written as a separate program of raw calls, with its data beside it."""

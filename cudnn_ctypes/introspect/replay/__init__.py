"""What a program called, as a program of its own: raw calls, with data beside it."""

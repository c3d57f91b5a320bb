"""The machine code of bound launches, from its assembly."""

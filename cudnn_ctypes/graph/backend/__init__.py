"""Typed backend descriptors: the only part of the graph API that creates and reads them."""

"""The reference device: C functions that take a handle, implemented with ``reference``'s functions.

A module with the name of a family registers the family's functions by C name. Other modules read
descriptors and memory, and make cuDNN's checks.
"""

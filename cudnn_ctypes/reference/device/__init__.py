"""The reference device: the C functions that take a handle, carried out by the twins above.

Modules named as a family register its functions by C name; the others read descriptors and
memory, and check what cuDNN checks.
"""

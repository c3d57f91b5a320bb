"""Bringing C, C++ and CUDA programs to Python: what they use, and what becomes of it."""

"""Composite nodes, such as ``sdpa``, as the operations that a version of cuDNN wants."""

"""A graph's description as plain data: tensors, nodes, operations, inference, checks, JSON."""

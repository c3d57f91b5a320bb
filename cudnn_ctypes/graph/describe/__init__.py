"""What a graph says, as plain data: tensors, nodes, operations, inference, checks and JSON."""

"""Which engine carries out a graph: proposals, conditions, explanations, measurements."""

"""Pictures of graphs as SVG, Mermaid and DOT; results as HTML tables, and as plots.

What is drawn is read from plain data: nodes with operands, tensors with dims. Nothing here imports
the graph API or cuDNN. The objects that show themselves import this when they are asked to.
"""

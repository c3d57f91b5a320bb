"""Pictures as SVG, still or in steps; results as HTML tables and plots.

The pictures are drawn from plain data: nodes with operands, tensors with dims. These modules do not
import the graph API or cuDNN. Objects that show themselves import these modules when needed.
"""

"""The graph builder: operations on tensors, described first and built late."""

from __future__ import annotations

from typing import Any

from ..dtypes import as_data_type
from ..raw import cudnnDataType_t
from .convolutions import ConvolutionOperations
from .inference import DataTypes, infer_node, number_tensors
from .node import Node
from .normalizations import NormalizationOperations
from .pointwise import PointwiseOperations
from .reductions import ReductionOperations
from .resampling import ResampleOperations
from .shapes import ShapeOperations
from .tensor import Tensor
from .validation import check_results, check_tensors, in_order

__all__ = ["Graph"]


class Graph(
    ConvolutionOperations,
    ReductionOperations,
    NormalizationOperations,
    ResampleOperations,
    ShapeOperations,
    PointwiseOperations,
):
    """Operations on tensors that cuDNN carries out together.

    Operations add to it and return their results, which are virtual until ``set_output``. Nothing
    reaches cuDNN before `build`. `tensors` and `nodes` hold what was described, as plain data.

    Parameters
    ----------
    name : str
    io_data_type : data type, optional
        Of tensors with memory that have none of their own.
    intermediate_data_type : data type
        Of virtual tensors.
    compute_data_type : data type
        In which operations compute.
    """

    def __init__(
        self,
        name: str = "graph",
        *,
        io_data_type: Any = None,
        intermediate_data_type: Any = "float32",
        compute_data_type: Any = "float32",
    ) -> None:
        super().__init__()
        self.name = name
        self.io_data_type = None if io_data_type is None else as_data_type(io_data_type)
        self.intermediate_data_type = as_data_type(intermediate_data_type)
        self.compute_data_type: cudnnDataType_t = as_data_type(compute_data_type)

    def validate(self) -> list[Node]:
        """Fill in what is missing in all tensors, and check the graph.

        Returns
        -------
        list of Node
            The operations in an order in which they can be carried out.

        Raises
        ------
        ValueError
            The message names the operation and the tensor.
        """
        nodes = in_order(self.nodes)
        check_tensors(self.tensors, nodes)
        number_tensors(self.tensors)
        data_types = DataTypes(
            self.io_data_type, self.intermediate_data_type, self.compute_data_type
        )
        for tensor in self.tensors:
            if tensor.ragged_offset is not None and tensor.ragged_offset.data_type is None:
                tensor.ragged_offset.data_type = cudnnDataType_t.CUDNN_DATA_INT32
        for node in nodes:
            infer_node(node, data_types)
        check_results(self.tensors)
        return nodes

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that execution reads: device memory, or numbers not fixed in the graph."""
        made = {id(tensor) for node in self.nodes for tensor in node.outputs.values()}
        return [
            tensor for tensor in self.tensors if id(tensor) not in made and tensor.value is None
        ]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that execution writes."""
        made = [tensor for node in self.nodes for tensor in node.outputs.values()]
        return [tensor for tensor in made if not tensor.virtual]

    def __repr__(self) -> str:
        operations = ", ".join(str(node) for node in self.nodes)
        return f"Graph({self.name!r}: {operations or 'empty'})"

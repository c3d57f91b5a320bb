"""The tensors of a graph: plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...arguments import integer, integers
from ...dtypes import data_type_argument, data_type_name
from ...raw import cudnnBackendTensorReordering_t, cudnnDataType_t, cudnnTensorFormat_t
from ...raw.strides import layout_order, packed
from ...raw.values import described
from .operators import TensorOperators

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Tensor", "in_layout"]


@dataclass(eq=False, repr=False)
class Tensor(TensorOperators):
    """A tensor of a `Graph`: made by ``Graph.tensor`` and by the graph's operations.

    What is None is inferred by ``Graph.validate`` and written here. Python's operators add
    operations to its graph: ``a + b * 2``, ``a @ b``, ``-a``, ``a > 0``.

    Attributes
    ----------
    name : str
    dims, strides : tuple of int, optional
        Strides in elements.
    data_type : cudnnDataType_t, optional
    uid : int, optional
        By which memory is passed at execution.
    virtual : bool
        Whether it exists only between the operations of the graph, without memory. So it is with
        every result until ``set_output``.
    by_value : bool
        Whether execution takes a number on the host instead of device memory.
    value : optional
        The number, for a by-value tensor that is fixed in the graph. For a scratch tensor the
        numbers that are written there before each execution.
    scratch : bool
        Whether its memory is a part of the workspace, for what an operation needs between kernels.
    alignment : int
        Of the memory's address, in bytes.
    ragged_offset : Tensor, optional
        Where each batch begins, in elements divided by `ragged_offset_multiplier`.
    ragged_offset_multiplier : int
        What `ragged_offset` is multiplied with.
    vector_count, vector_dimension : int
        Elements that lie together along one dimension (NCHW_VECT_C: 4 or 32 along 1).
    reordering : cudnnBackendTensorReordering_t
        "f8_128x4" for the scales of blocks; else "none".
    """

    name: str = ""
    dims: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    data_type: cudnnDataType_t | None = None
    uid: int | None = None
    virtual: bool = False
    by_value: bool = False
    value: Any = None
    scratch: bool = False
    alignment: int = 16
    ragged_offset: Tensor | None = None
    ragged_offset_multiplier: int = 1
    vector_count: int = 1
    vector_dimension: int | None = None
    reordering: cudnnBackendTensorReordering_t = (
        cudnnBackendTensorReordering_t.CUDNN_TENSOR_REORDERING_NONE
    )

    renamed: ClassVar[int] = 0
    """How often some tensor was given another name."""

    def __setattr__(self, attribute: str, value: Any) -> None:
        if attribute == "name" and vars(self).get("name", value) != value:
            Tensor.renamed += 1
        object.__setattr__(self, attribute, value)

    def set_output(
        self,
        output: bool = True,
        *,
        dims: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        data_type: Any = None,
        name: str | None = None,
        uid: int | None = None,
    ) -> Self:
        """Give it memory (or none, with False), and what else is said about it; returns it.

        Parameters
        ----------
        dims, strides : sequence of int, optional
            Where the operands do not determine them, or another layout is wanted; in elements.
        data_type : data type, optional
            In place of the graph's `io_data_type`.
        name : str, optional
        uid : int, optional
            By which memory is passed at execution.
        """
        self.virtual = not output
        if dims is not None:
            self.dims = integers(f"tensor {self.name!r}: dims", dims)
        if strides is not None:
            self.strides = integers(f"tensor {self.name!r}: strides", strides)
        if data_type is not None:
            self.data_type = data_type_argument(f"tensor {self.name!r}: data_type", data_type)
        if name is not None:
            self.name = name
        if uid is not None:
            self.uid = integer(f"tensor {self.name!r}: uid", uid)
        return self

    @property
    def rank(self) -> int:
        return len(self.dims or ())

    def __repr__(self) -> str:
        parts = [repr(self.name)]
        parts += [str(self.dims)] if self.dims is not None else []
        parts += [data_type_name(self.data_type)] if self.data_type is not None else []
        parts += ["virtual"] if self.virtual else []
        parts += ["scratch"] if self.scratch else []
        parts += [f"value={self.value!r}"] if self.by_value else []
        parts += [f"uid={self.uid}"] if self.uid is not None else []
        return f"Tensor({', '.join(parts)})"


def in_layout(place: str, dims: Any, strides: Any, layout: Any) -> tuple[int, ...]:
    """The strides of a packed tensor in a layout.

    Raises
    ------
    TypeError, ValueError
        The message begins with `place`.
    """
    if strides is not None:
        raise ValueError(f"{place}give either strides or a layout, not both")
    name = layout.name if isinstance(layout, cudnnTensorFormat_t) else layout
    if not isinstance(name, str):
        raise TypeError(f"{place}layout: expected a name, got {described(layout)}")
    sizes = integers(f"{place}dims", dims)
    try:
        return packed(sizes, layout_order(name, len(sizes)))
    except ValueError as error:
        raise ValueError(f"{place}layout: {error}") from None

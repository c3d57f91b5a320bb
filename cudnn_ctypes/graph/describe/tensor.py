"""The tensors of a graph: plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ...arguments import integer, integers, missing_attribute
from ...dtypes import data_type_argument, data_type_name
from ...raw import cudnnBackendTensorReordering_t, cudnnDataType_t, cudnnTensorFormat_t
from ...raw.strides import layout_order, packed
from ...raw.values import described

if TYPE_CHECKING:
    from typing_extensions import Self

    from .operations.base import Operations


_OTHER_NAMES = {
    "set_dim": "set_output(dims=…)",
    "set_stride": "set_output(strides=…)",
    "set_data_type": "set_output(data_type=…)",
    "set_name": "set_output(name=…)",
    "set_uid": "set_output(uid=…)",
    "shape": "dims",
    "dim": "dims",
    "size": "dims",
    "stride": "strides",
    "dtype": "data_type",
    "is_virtual": "virtual",
    "set_is_virtual": "set_output",
}


class TensorOperators:
    """Operators on tensors of a graph and numbers; a number is passed by value.

    ``+ - * / **``, ``@`` (matrix product), ``< <= > >=``, ``& | ~`` (of booleans), ``-x`` and
    ``abs(x)`` add the graph's `add`, `sub`, `mul`, `div`, `pow`, `matmul`, `cmp_lt`, …, and the
    node is named after that: "add", "add_2". ``==`` asks whether two names stand for one tensor, as
    tensors are keys of mappings: the operation is `cmp_eq`.
    """

    # So that an operator of NumPy's numbers leaves the work to the reflected one here.
    __array_ufunc__ = None

    _graph: Callable[[], Any] | None = None
    """A weak reference: a graph that is let go takes its plan with it at once."""

    @property
    def graph(self) -> Operations:
        """The graph that made this tensor.

        Raises ValueError if none has, or if it does not exist any more.
        """
        found = None if self._graph is None else self._graph()
        if found is None:
            why = "belongs to no graph" if self._graph is None else "outlived its graph"
            raise ValueError(f"{self!r} {why}: keep the Graph, and take tensors that it made")
        return found  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy: all but the graph, which does not own the copy."""
        return {name: value for name, value in vars(self).items() if name != "_graph"}

    def __getitem__(self, key: Any) -> Self:
        """Part of it, by the graph's `slice`: ``x[..., :64]``, ``x[:, ::2]``."""
        parts = key if isinstance(key, tuple) else (key,)
        for each in parts:
            if not isinstance(each, slice) and each is not Ellipsis:
                raise TypeError(
                    f"{self!r}[{each!r}]: expected slices and ..., as a tensor of a graph keeps "
                    "its dimensions: take i:i+1 for the index i, and reshape"
                )
        return self._node("slice", self, parts if Ellipsis in parts else (*parts, Ellipsis))

    __iter__ = None
    """With `__getitem__` alone, Python would take it for a sequence without an end."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name, "a Tensor", _OTHER_NAMES)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} has no truth value: it describes numbers that only an execution has; for "
            "a choice by element take the graph's binary_select"
        )

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> NoReturn:
        """Refuse functions of PyTorch, which would ask for a "Tensor, not Tensor"."""
        name = getattr(function, "__name__", function)
        raise TypeError(
            f"PyTorch's {name} was given a Tensor of a graph, which describes numbers that only an "
            "execution has: describe the operation by a method of the graph; memory of PyTorch "
            "comes in as an argument"
        )

    def _node(self, method: str, *operands: Any) -> Self:
        """The result of the node that a method of the graph adds for an operator."""
        graph: Any = self.graph
        for operand in operands:
            if operand is None:  # to the methods, an operand that is left out
                return NotImplemented  # type: ignore[no-any-return]
            if isinstance(operand, TensorOperators) and not graph._owns(operand):
                raise ValueError(
                    f"{method}: {operand!r} is of another graph than {self!r}: call {method} of "
                    "the one that is meant"
                )
        result: Self = getattr(graph, method)(*operands)
        return result

    def __add__(self, other: Self | float) -> Self:
        return self._node("add", self, other)

    def __radd__(self, other: float) -> Self:
        return self._node("add", other, self)

    def __sub__(self, other: Self | float) -> Self:
        return self._node("sub", self, other)

    def __rsub__(self, other: float) -> Self:
        return self._node("sub", other, self)

    def __mul__(self, other: Self | float) -> Self:
        return self._node("mul", self, other)

    def __rmul__(self, other: float) -> Self:
        return self._node("mul", other, self)

    def __truediv__(self, other: Self | float) -> Self:
        return self._node("div", self, other)

    def __rtruediv__(self, other: float) -> Self:
        return self._node("div", other, self)

    def __pow__(self, other: Self | float) -> Self:
        return self._node("pow", self, other)

    def __rpow__(self, other: float) -> Self:
        return self._node("pow", other, self)

    def __matmul__(self, other: Self) -> Self:
        return self._node("matmul", self, other)

    def __rmatmul__(self, other: Self) -> Self:
        return self._node("matmul", other, self)

    def __and__(self, other: Self) -> Self:
        return self._node("logical_and", self, other)

    def __rand__(self, other: Self) -> Self:
        return self._node("logical_and", other, self)

    def __or__(self, other: Self) -> Self:
        return self._node("logical_or", self, other)

    def __ror__(self, other: Self) -> Self:
        return self._node("logical_or", other, self)

    def __lt__(self, other: Self | float) -> Self:
        return self._node("cmp_lt", self, other)

    def __le__(self, other: Self | float) -> Self:
        return self._node("cmp_le", self, other)

    def __gt__(self, other: Self | float) -> Self:
        return self._node("cmp_gt", self, other)

    def __ge__(self, other: Self | float) -> Self:
        return self._node("cmp_ge", self, other)

    def __invert__(self) -> Self:
        return self._node("logical_not", self)

    def __neg__(self) -> Self:
        return self._node("neg", self)

    def __abs__(self) -> Self:
        return self._node("abs", self)


@dataclass(eq=False, repr=False)
class Tensor(TensorOperators):
    """A tensor of a `Graph`: made by ``Graph.tensor`` and by the graph's operations.

    What is None is inferred by ``Graph.validate`` and written here. Python's operators add
    operations to its graph: ``a + b * 2``, ``a @ b``, ``-a``, ``a > 0``.

    - `dims`, `strides`: strides in elements.
    - `uid`: by which memory is passed at execution.
    - `virtual`: whether it exists only between the operations of the graph, without memory. So it
      is with every result until ``set_output``.
    - `by_value`: whether execution takes a number on the host instead of device memory.
    - `value`: the number, for a by-value tensor that is fixed in the graph. For a scratch tensor
      the numbers that are written there before each execution.
    - `scratch`: whether its memory is a part of the workspace, for what an operation needs between
      kernels.
    - `alignment`: of the memory's address, in bytes.
    - `ragged_offset`: where each batch begins, in elements divided by `ragged_offset_multiplier`.
    - `ragged_offset_multiplier`: what `ragged_offset` is multiplied with.
    - `vector_count`, `vector_dimension`: elements that lie together along one dimension
      (NCHW_VECT_C: 4 or 32 along 1).
    - `reordering`: "f8_128x4" for the scales of blocks; else "none".
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

        - `dims`, `strides`: where the operands do not determine them, or another layout is wanted;
          in elements.
        - `data_type`: in place of the graph's `io_data_type`.
        - `uid`: by which memory is passed at execution.
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
    """The strides of a packed tensor in a layout."""
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

"""What all families of operations stand on: a graph's tensors and nodes, and adding to them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...dtypes import as_data_type
from ...enumerators import enumerator
from ...raw import cudnnBackendTensorReordering_t
from ..node import Kind, Node
from ..strides import packed
from ..tensor import Tensor

__all__ = ["Operations", "integers"]


class Operations:
    """The plain data of a graph. The families of operations derive from this, `Graph` from them.

    Wherever an operation takes a tensor, a number makes a by-value one of the compute data type.

    Attributes
    ----------
    tensor_class : type of Tensor
        Of the tensors that it makes.
    """

    tensor_class: type[Tensor] = Tensor

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.nodes: list[Node] = []

    def tensor(
        self,
        dims: Sequence[int],
        strides: Sequence[int] | None = None,
        data_type: Any = None,
        *,
        name: str = "",
        uid: int | None = None,
        virtual: bool = False,
        by_value: bool = False,
        alignment: int = 16,
        ragged_offset: Tensor | None = None,
        ragged_offset_multiplier: int = 1,
        vector_count: int = 1,
        vector_dimension: int | None = None,
        reordering: cudnnBackendTensorReordering_t | str = "none",
    ) -> Tensor:
        """A tensor that the graph reads.

        Parameters
        ----------
        dims : sequence of int
            For images (n, c, h, w), whatever the layout in memory: that is in `strides`.
        strides : sequence of int, optional
            In elements; by default packed as in C.
        data_type : data type, optional
            The graph's `io_data_type` by default.

        Raises
        ------
        ValueError
            If `dims` and `strides` differ in length, or a dimension is not positive.
        """
        tensor = self.tensor_class(
            name=name or self._free_name("tensor"),
            dims=integers("dims", dims),
            strides=None if strides is None else integers("strides", strides),
            data_type=None if data_type is None else as_data_type(data_type),
            uid=None if uid is None else integers("uid", [uid])[0],
            virtual=virtual,
            by_value=by_value,
            alignment=alignment,
            ragged_offset=ragged_offset,
            ragged_offset_multiplier=ragged_offset_multiplier,
            vector_count=vector_count,
            vector_dimension=vector_dimension,
            reordering=enumerator(cudnnBackendTensorReordering_t, reordering, "reordering"),
        )
        if not tensor.dims or min(tensor.dims) < 1:
            raise ValueError(f"tensor {tensor.name!r}: dims must be positive, got {tensor.dims}")
        if tensor.strides is None:
            tensor.strides = packed(tensor.dims)
        if min(tensor.strides) < 0:
            raise ValueError(f"tensor {tensor.name!r}: negative strides {tensor.strides}")
        if len(tensor.strides) != len(tensor.dims):
            raise ValueError(
                f"tensor {tensor.name!r}: {len(tensor.dims)} dims {tensor.dims}, but "
                f"{len(tensor.strides)} strides {tensor.strides}"
            )
        return self._own(tensor)

    def tensor_like(self, array: Any, *, name: str = "") -> Tensor:
        """A tensor with the shape, strides and data type of another one.

        Parameters
        ----------
        array : Tensor, DeviceTensor, NumPy or PyTorch array, or anything with ``__dlpack__``
            Its memory is not looked at.
        """
        if isinstance(array, Tensor):
            if array.dims is None:
                raise ValueError(f"tensor_like: {array!r} has no dims yet; validate the graph")
            return self.tensor(array.dims, array.strides, array.data_type, name=name)
        if not hasattr(array, "dtype") or not hasattr(array, "shape"):
            array = np.from_dlpack(array)
        strides = array.stride() if callable(getattr(array, "stride", None)) else array.strides
        if isinstance(array, np.ndarray):
            strides = [stride // array.itemsize for stride in strides]
        return self.tensor(array.shape or (1,), strides or None, array.dtype, name=name)

    def tensor_scalar(self, value: float, data_type: Any = None, *, name: str = "") -> Tensor:
        """A number that is fixed in the graph and passed by value; it broadcasts.

        Parameters
        ----------
        data_type : data type, optional
            That of the graph's computations by default.
        """
        if data_type is None and isinstance(value, np.generic):
            data_type = value.dtype
        tensor = self.tensor_class(
            name=name or self._free_name("scalar"),
            data_type=None if data_type is None else as_data_type(data_type),
            by_value=True,
            value=value,
        )
        return self._own(tensor)

    def find_tensor(self, key: str | int) -> Tensor:
        """The tensor with this name or uid.

        Raises
        ------
        KeyError
            If there is none, or several have that name.
        """
        found = [each for each in self.tensors if key in (each.name, each.uid)]
        if len(found) != 1:
            problem = "several tensors are" if found else "no tensor is"
            listed = ", ".join(repr(each.name) for each in self.tensors)
            raise KeyError(f"{problem} called {key!r}; there are {listed}")
        return found[0]

    def _own(self, tensor: Tensor) -> Tensor:
        self.tensors.append(tensor)
        return tensor

    def _add(
        self,
        kind: Kind,
        operation: str,
        inputs: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        *,
        outputs: Sequence[str] | None = None,
        name: str = "",
        compute_data_type: Any = None,
    ) -> dict[str, Tensor]:
        """Append a node; returns its results by name, all virtual: `outputs`, else all."""
        name = name or self._free_name(operation)
        given = {
            port: self._operand(operation, name, port, value)
            for port, value in inputs.items()
            if value is not None
        }
        for port in kind.inputs:
            if port not in given and port not in kind.optional:
                raise TypeError(f"{operation} {name!r}: {port} is missing")
        wanted = tuple(kind.outputs) if outputs is None else outputs
        one = len(kind.outputs) == 1
        results = {
            port: self._own(self.tensor_class(name=name if one else f"{name}.{port}", virtual=True))
            for port in wanted
        }
        data_type = None if compute_data_type is None else as_data_type(compute_data_type)
        self.nodes.append(
            Node(kind, operation, name, given, results, dict(options or {}), data_type)
        )
        return results

    def _operand(self, operation: str, name: str, port: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._operand(operation, name, port, each) for each in value]
        if isinstance(value, Tensor):
            if not any(value is own for own in self.tensors):
                raise ValueError(f"{operation} {name!r}: {port} {value!r} is of another graph")
            return value
        if isinstance(value, (numbers.Real, np.generic)):
            return self.tensor_scalar(value, name=self._free_name(f"{name}.{port}"))  # type: ignore[arg-type]
        raise TypeError(
            f"{operation} {name!r}: {port}: expected a Tensor of this graph or a number, "
            f"got {value!r} ({type(value).__name__})"
        )

    def _free_name(self, stem: str) -> str:
        taken = {each.name for each in self.tensors} | {each.name for each in self.nodes}
        if stem not in taken:
            return stem
        number = 2
        while f"{stem}_{number}" in taken:
            number += 1
        return f"{stem}_{number}"


def integers(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """A tuple of ints.

    Raises
    ------
    TypeError
        If `values`, the argument called `name`, is something else.
    """
    try:
        return tuple(value.__index__() for value in values)
    except (TypeError, AttributeError):
        raise TypeError(f"{name}: expected integers, got {values!r}") from None

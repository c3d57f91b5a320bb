"""The tensors of a `pygraph`: those of layer 3 with getters, and setters that return the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..graph.describe.tensor import Tensor
from ..raw import cudnnBackendTensorReordering_t
from .enums import c_data_type, c_member, data_type, named, note_of, tensor_reordering

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["tensor"]


class tensor(Tensor):
    """A tensor of a `pygraph`, which makes it.

    Dims and strides are lists of int, in elements; what is not known yet is an empty list, 0 or
    ``data_type.NOT_SET``. ``pygraph.validate`` fills in dims, strides and data types,
    ``pygraph.build_operation_graph`` the unique ids.
    """

    compile_time_constant: bool = False
    # Of memory that is part of another tensor's: its unique id, and where in bytes it begins.
    view_of: tuple[int, int] | None = None

    def set_name(self, value: str) -> Self:
        self.name = str(value)
        return self

    def get_name(self) -> str:
        return self.name

    def set_uid(self, value: int) -> Self:
        self.uid = value.__index__()
        return self

    def get_uid(self) -> int:
        return self.uid or 0

    def set_dim(self, value: Sequence[int]) -> Self:
        self.dims = integers("dim", value) or None
        return self

    def get_dim(self) -> list[int]:
        return list(self.dims or ([1] if self.value is not None else []))

    def set_stride(self, value: Sequence[int]) -> Self:
        self.strides = integers("stride", value) or None
        return self

    def get_stride(self) -> list[int]:
        return list(self.strides or ([1] if self.value is not None else []))

    def set_data_type(self, data_type: Any = data_type.NOT_SET) -> Self:
        self.data_type = c_data_type(data_type)
        return self

    def get_data_type(self) -> Any:
        """A ``data_type``; C's enumerator where the front end has no name for it."""
        if self.data_type is None:
            return data_type.NOT_SET
        return note_of(data_type, self.data_type)

    def set_output(self, output: bool = True, **more: Any) -> Self:
        """Whether execution writes it to memory. `more` is that of ``graph.Tensor.set_output``."""
        return super().set_output(bool(output), **more)

    def set_is_virtual(self, value: bool) -> Self:
        self.virtual = bool(value)
        return self

    def get_is_virtual(self) -> bool:
        return self.virtual

    def set_is_pass_by_value(self, value: bool) -> Self:
        self.by_value = bool(value)
        return self

    def get_is_pass_by_value(self) -> bool:
        return self.by_value

    def get_has_compile_time_constant(self) -> bool:
        return self.compile_time_constant

    def set_alignment(self, value: int) -> Self:
        self.alignment = value.__index__()
        return self

    def get_alignment(self) -> int:
        return self.alignment

    def set_ragged_offset(self, value: tensor | None) -> Self:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"ragged_offset: expected a tensor, got {value!r}")
        self.ragged_offset = value
        return self

    def set_reordering_type(self, value: tensor_reordering) -> Self:
        self.reordering = c_member(named(tensor_reordering, value, "reordering_type"))
        return self

    def get_reordering_type(self) -> Any:
        return note_of(tensor_reordering, cudnnBackendTensorReordering_t(self.reordering))

    def set_vector_count_and_dimension(self, count: int, dimension: int) -> Self:
        self.vector_count, self.vector_dimension = count.__index__(), dimension.__index__()
        return self

    def get_vector_count(self) -> int:
        return self.vector_count

    def get_vector_dimension(self) -> int:
        return -1 if self.vector_dimension is None else self.vector_dimension


def integers(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """A tuple of Python integers.

    Raises
    ------
    TypeError
        If `values` is something else; the message says `name`.
    """
    try:
        return tuple(value.__index__() for value in values)
    except (TypeError, AttributeError):
        raise TypeError(f"{name}: expected a list of integers, got {values!r}") from None

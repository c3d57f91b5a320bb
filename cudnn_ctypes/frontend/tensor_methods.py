"""The tensors that a `pygraph` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..raw import cudnnDataType_t
from .c_members import c_data_type, c_member
from .enums import data_type, named, scalar_type, tensor_reordering
from .errors import InvalidGraphError
from .held_plans import Holding
from .tensors import integers, tensor

__all__ = ["TensorMethods"]

_tensor = tensor  # within the class these are methods and arguments
_scalar_type = scalar_type
_NOT_SET = data_type.NOT_SET


class TensorMethods(Holding):
    """Tensors by their dims, by an array, or of one number."""

    def tensor(
        self,
        dim: Sequence[int],
        stride: Sequence[int] | None = None,
        data_type: Any = _NOT_SET,
        is_virtual: bool = False,
        is_pass_by_value: bool = False,
        ragged_offset: _tensor | None = None,
        reordering_type: tensor_reordering = tensor_reordering.NONE,
        name: str = "",
        uid: int | None = -1,
        ragged_offset_multiplier: int = 1,
        alignment_value: int = 1,
    ) -> _tensor:
        """A tensor that the graph reads.

        Parameters
        ----------
        dim, stride : sequence of int
            Strides in elements; by default packed as in C.
        uid : int
            One is chosen if it is -1.
        ragged_offset_multiplier : int
            In which units of elements `ragged_offset` counts.
        alignment_value : int
            A number that divides every element; nothing here needs to know it.
        """
        described = self._graph.tensor(
            integers("dim", dim),
            None if stride is None else integers("stride", stride),
            c_data_type(data_type),
            name=str(name),
            uid=None if uid is None or uid == -1 else uid.__index__(),
            virtual=bool(is_virtual),
            by_value=bool(is_pass_by_value),
            ragged_offset=ragged_offset,
            ragged_offset_multiplier=ragged_offset_multiplier.__index__(),
            reordering=c_member(named(tensor_reordering, reordering_type, "reordering_type")),
        )
        assert isinstance(described, _tensor)
        return described.set_alignment_value(alignment_value)

    def tensor_like(self, template: Any, name: str = "", is_virtual: bool = False) -> _tensor:
        """A tensor with the shape, strides and data type of `template`: a tensor or an array.

        Arrays are PyTorch tensors, or anything with ``__dlpack__``; their memory is not looked at.
        One element on the host is to be passed by value.
        """
        result = self._graph.tensor_like(template, name=str(name))
        result.virtual = bool(is_virtual)
        return result

    def tensor_scalar(
        self, value: float | int, scalar_type: scalar_type, name: str = ""
    ) -> _tensor:
        """A number that is fixed in the graph: FLOAT for a float, INT32 for an int."""
        kind = named(_scalar_type, scalar_type, "scalar_type")
        result = self._graph.tensor_scalar(
            value,
            cudnnDataType_t.CUDNN_DATA_INT32
            if isinstance(value, int)
            else cudnnDataType_t.CUDNN_DATA_FLOAT,
            name=str(name),
        )
        assert isinstance(result, _tensor)
        result.compile_time_constant = kind is _scalar_type.COMPILE_TIME_CONST
        return result

    def query_tensor_attributes_of_uid(self, uid: int) -> _tensor:
        """The tensor with this unique id."""
        for each in self._tensors:
            if each.uid == uid:
                assert isinstance(each, _tensor)
                return each
        raise InvalidGraphError(f"no tensor has uid {uid}")

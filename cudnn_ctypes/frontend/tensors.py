"""The tensors of a `pygraph`: those of layer 3 with getters, and setters that return the tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..arguments import integers
from ..graph.describe.tensor import Tensor
from ..raw import cudnnBackendTensorReordering_t, cudnnDataType_t
from .c_members import c_data_type, c_member, member_of, note_of
from .enums import NodeType, data_type, named, scalar_type, tensor_reordering

if TYPE_CHECKING:
    from typing_extensions import Self


class tensor(Tensor):
    """A tensor of a `pygraph`, which makes it.

    Dims and strides are lists of int, in elements; what is not known yet is an empty list, 0 or
    ``data_type.NOT_SET``. ``pygraph.validate`` fills in dims, strides and data types,
    ``pygraph.build_operation_graph`` the unique ids.
    """

    compile_time_constant: bool = False
    # Of memory that is part of another tensor's: its unique id, and where in bytes it begins.
    view_of: tuple[int, int] | None = None
    # A number that divides every element: a promise to NVIDIA's own kernels, which cuDNN has no
    # use for.
    alignment_value: int = 1

    @property
    def dim(self) -> list[int]:
        return self.get_dim()

    @dim.setter
    def dim(self, value: Sequence[int]) -> None:
        self.set_dim(value)

    @property
    def stride(self) -> list[int]:
        return self.get_stride()

    @stride.setter
    def stride(self, value: Sequence[int]) -> None:
        self.set_stride(value)

    @property
    def is_virtual(self) -> bool:
        return self.virtual

    @property
    def is_pass_by_value(self) -> bool:
        return self.by_value

    @property
    def pass_by_value(self) -> Any:
        """The number of a scalar that is fixed in the graph; None without one."""
        return self.value

    @property
    def reordering_type(self) -> Any:
        return self.get_reordering_type()

    @property
    def scalar_type(self) -> scalar_type | None:
        """When the number of a scalar is settled; None of other tensors."""
        if self.value is None:
            return None
        return _scalar_type(int(self.compile_time_constant))

    def set_name(self, name: str) -> Self:
        self.name: str = str(name)
        return self

    def get_name(self) -> str:
        return self.name

    def set_uid(self, uid: int) -> Self:
        self.uid: int | None = uid.__index__()
        return self

    def get_uid(self) -> int:
        return self.uid or 0

    def set_dim(self, dim: Sequence[int]) -> Self:
        self.dims: tuple[int, ...] | None = integers("dim", dim) or None
        return self

    def get_dim(self) -> list[int]:
        return list(self.dims or ([1] if self.value is not None else []))

    def set_stride(self, stride: Sequence[int]) -> Self:
        self.strides: tuple[int, ...] | None = integers("stride", stride) or None
        return self

    def get_stride(self) -> list[int]:
        return list(self.strides or ([1] if self.value is not None else []))

    def set_data_type(self, data_type: Any = data_type.NOT_SET) -> Self:
        self.data_type: cudnnDataType_t | None = c_data_type(data_type)
        return self

    def get_data_type(self) -> Any:
        """A ``data_type``; C's enumerator where the front end has no name for it."""
        if self.data_type is None:
            return data_type.NOT_SET
        return note_of(data_type, self.data_type)

    def set_output(self, value: bool = True, **more: Any) -> Self:  # type: ignore[override]
        """Whether execution writes it to memory. `more` is that of ``graph.Tensor.set_output``."""
        return super().set_output(bool(value), **more)

    def set_is_virtual(self, value: bool) -> Self:
        self.virtual: bool = bool(value)
        return self

    def get_is_virtual(self) -> bool:
        return self.virtual

    def set_is_pass_by_value(self, value: bool) -> Self:
        self.by_value: bool = bool(value)
        return self

    def get_is_pass_by_value(self) -> bool:
        return self.by_value

    def get_has_compile_time_constant(self) -> bool:
        return self.compile_time_constant

    def set_alignment(self, value: int) -> Self:
        self.alignment: int = value.__index__()
        return self

    def get_alignment(self) -> int:
        return self.alignment

    def set_ragged_offset(self, ragged_offset: tensor | None) -> Self:
        if ragged_offset is not None and not isinstance(ragged_offset, Tensor):
            raise TypeError(f"ragged_offset: expected a tensor, got {ragged_offset!r}")
        self.ragged_offset: Tensor | None = ragged_offset
        return self

    def set_ragged_offset_multiplier(self, multiplier: int) -> Self:
        """In which units of elements the ragged offsets count."""
        self.ragged_offset_multiplier: int = multiplier.__index__()
        return self

    def get_ragged_offset_multiplier(self) -> int:
        return self.ragged_offset_multiplier

    def set_alignment_value(self, value: int) -> Self:
        """Promise that every element is a multiple of `value`; nothing here needs to know it."""
        if value.__index__() < 1:
            raise ValueError(f"alignment_value: expected at least 1, got {value}")
        self.alignment_value = value.__index__()
        return self

    def set_reordering_type(self, reordering_type: tensor_reordering) -> Self:
        kind = named(tensor_reordering, reordering_type, "reordering_type")
        self.reordering: cudnnBackendTensorReordering_t = c_member(kind)
        return self

    def get_reordering_type(self) -> Any:
        return note_of(tensor_reordering, cudnnBackendTensorReordering_t(self.reordering))

    def set_vector_count_and_dimension(self, count: int, dimension: int) -> Self:
        self.vector_count: int = count.__index__()
        self.vector_dimension: int | None = dimension.__index__()
        return self

    def get_vector_count(self) -> int:
        return self.vector_count

    def get_vector_dimension(self) -> int:
        return -1 if self.vector_dimension is None else self.vector_dimension

    def validate(self) -> None:
        """See that it has dims and strides, as many of each, and is not virtual and by value.

        Raises
        ------
        ValueError
        """
        if not self.get_dim():
            raise ValueError(f"tensor {self.name!r} has no dims")
        if len(self.get_stride()) != len(self.get_dim()):
            raise ValueError(
                f"tensor {self.name!r} has dims {self.get_dim()} and strides {self.get_stride()}"
            )
        if self.virtual and self.by_value:
            raise ValueError(f"tensor {self.name!r} is virtual, but passed by value")


_scalar_type = scalar_type  # within the class it is a property


@dataclass
class GraphContext:
    """The data types of a graph: of tensors with memory, of the others, and of the computation.

    Attributes
    ----------
    io_data_type, intermediate_data_type, compute_data_type : data_type
        NOT_SET where nothing was said.
    """

    io_data_type: Any = data_type.NOT_SET
    intermediate_data_type: Any = data_type.NOT_SET
    compute_data_type: Any = data_type.NOT_SET


@dataclass(eq=False, repr=False)
class Node:
    """One operation of a `pygraph`; changing it changes nothing in the graph.

    Attributes
    ----------
    name : str
    node_type : NodeType
    compute_data_type : data_type
        NOT_SET: that of the graph.
    inputs, outputs : dict of str to tensor
        By argument and by result: "image", "Y"; operands of lists with a number, "inputs_0"; those
        of element-wise operations "IN_0", "IN_1", "OUT_0".
    params : dict
        The other arguments of the call. Element-wise operations have their name as "mode".
    """

    name: str
    node_type: NodeType
    compute_data_type: Any = data_type.NOT_SET
    inputs: dict[str, tensor] = field(default_factory=dict)
    outputs: dict[str, tensor] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Node({self.name!r}, {self.node_type.name})"


def node_of(
    method: str,
    name: str,
    arguments: Mapping[str, Any],
    results: Mapping[str, tensor | None],
    compute_data_type: Any,
) -> Node:
    """The node for one call of a method of `pygraph`, with its arguments and results by name."""
    kind = NodeType.__members__.get(method.upper().replace("_BACKWARD", "_BWD"))
    node = Node(name, kind or NodeType.POINTWISE, compute_data_type)
    if kind is None:
        node.params["mode"] = method
    for key, value in arguments.items():
        listed = isinstance(value, (list, tuple)) and any(isinstance(v, tensor) for v in value)
        if isinstance(value, tensor):
            node.inputs[key if kind else f"IN_{len(node.inputs)}"] = value
        elif listed:
            for index, each in enumerate(value):
                place = node.inputs if isinstance(each, tensor) else node.params
                place[f"{key}_{index}"] = member_of(each)
            node.params[f"_n_{key}"] = len(value)
        elif value is not None and not (isinstance(value, tuple) and not value):
            node.params[key] = member_of(value)
    node.outputs = {key: each for key, each in results.items() if each is not None}
    return node

"""A convolution in one direction: which algorithms can do it, and what they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import c_int, c_size_t
from typing import Any, ClassVar, NamedTuple, cast

from ..arguments import expect
from ..dtypes import data_type_name
from ..handle import Handle
from ..raw import operand_rules
from ..raw.ctypes_support import CudnnEnum
from ..raw.function import Function
from ..raw.records import NOTHING, Entry
from ..runtime import DeviceBuffer, OutOfDeviceMemoryError
from .algorithm_table import AlgorithmRow, AlgorithmTable
from .convolution import ConvolutionDescriptor
from .enumerators import enumerator
from .filter import FilterDescriptor
from .launch_keys import Look, look_at_descriptors
from .operand_memory import room
from .operands import AnyDescriptor, Operands
from .tensor import TensorDescriptor

__all__ = ["ConvolutionAlgorithms", "ConvolutionFunctions"]

_ONE_WAY = (
    "reference device: NumPy computes all of these in one way and time; their order\n"
    "and statuses are cuDNN 9.19's on an H200, the workspaces are nominal"
)


class ConvolutionFunctions(NamedTuple):
    """The C types and functions of a direction. In all three, operands come in the same order."""

    algorithm_type: type[CudnnEnum]
    performance_type: type[Any]
    max_count: Callable[..., Any]
    suggest: Callable[..., Any]
    find: Callable[..., Any]
    find_ex: Callable[..., Any]
    workspace_size: Callable[..., Any]
    launch: Callable[..., Any]


class ConvolutionAlgorithms:
    """Base of the directions. A subclass is a dataclass of four descriptors in C's order.

    Operands have the names of their descriptors: x for ``x_desc``; the last one is the result.
    """

    functions: ClassVar[ConvolutionFunctions]

    _looked: tuple[list[Entry], Look] = [NOTHING], (None, None)
    """The last result of `_look`, and the places of the records that it depends on."""

    def __post_init__(self) -> None:
        """Refuse descriptors that are not of their kind, or do not fit together."""
        named = {name.removeprefix("d"): name for name in self._names}
        x, w, y = (named[role] for role in "xwy")
        expect(f"{x}_desc", self._desc(x), TensorDescriptor)
        expect(f"{w}_desc", self._desc(w), FilterDescriptor)
        expect("conv", self.descriptors[2], ConvolutionDescriptor)
        expect(f"{y}_desc", self._desc(y), TensorDescriptor)
        launch = cast(Function, self.functions.launch)
        in_c = [each.name for each in launch.parameters if each.name.endswith("Desc")]
        first, second, result = self._names
        called = dict(zip(in_c, (first, second, "conv", result), strict=True))
        operand_rules.check(launch, dict(zip(in_c, self.descriptors, strict=True)), called)

    @property
    def descriptors(self) -> tuple[AnyDescriptor, AnyDescriptor, ConvolutionDescriptor, Any]:
        """The four descriptors in C's order."""
        first, second, conv, result = self.__getstate__().values()
        return first, second, conv, result

    @property
    def _names(self) -> list[str]:
        """The operands in C's order, the result last."""
        return [name.removesuffix("_desc") for name in self.__getstate__() if name != "conv"]

    def __getstate__(self) -> dict[str, Any]:
        """The fields: also what is copied and pickled."""
        return {name: value for name, value in vars(self).items() if name != "_looked"}

    def _look(self, launcher: Any) -> Look:
        """For the keys of launches (see `launch_keys`): remembered until a descriptor changes."""
        places, look = self._looked
        for place in places:
            if place.token is None:
                look = look_at_descriptors(self, launcher)
                places = [each._place for each in self.descriptors]
                if look[0] == (type(self), *[each.token for each in places]):
                    vars(self)["_looked"] = places, look
                break
        return look

    def _desc(self, name: str) -> AnyDescriptor:
        desc: AnyDescriptor = getattr(self, f"{name}_desc")
        return desc

    def _operands(self, handle: Handle, operands: dict[str, Any]) -> Operands:
        names = self._names
        if sorted(operands) != sorted(names):
            raise TypeError(
                f"operands: expected {', '.join(names)} by name, got "
                f"{', '.join(operands) or 'none'}"
            )
        return Operands(handle, **{name: (operands[name], self._desc(name)) for name in names})

    # -- asking --------------------------------------------------------------------------------

    def max_algorithm_count(self, handle: Handle) -> int:
        """How many rows a query can have; follows ``cudnnGet…AlgorithmMaxCount``."""
        count = c_int()
        self.functions.max_count(handle, count)
        return count.value

    def algorithms(self, handle: Handle) -> AlgorithmTable:
        """All algorithms in the order of the time that a heuristic expects of them.

        Nothing is run, nothing timed. Follows ``cudnnGet…Algorithm_v7``.
        """
        return self._query(self.functions.suggest, handle, self.descriptors)

    def find(self, handle: Handle) -> AlgorithmTable:
        """All algorithms, timed one after another on memory that cuDNN allocates; slow.

        Follows ``cudnnFind…Algorithm``.
        """
        return self._query(self.functions.find, handle, self.descriptors)

    def find_ex(self, handle: Handle, *, workspace: Any = None, **operands: Any) -> AlgorithmTable:
        """All algorithms, timed on memory of yours; follows ``cudnnFind…AlgorithmEx``.

        Parameters
        ----------
        workspace : DeviceBuffer or tensor, optional
            Algorithms that need more are not timed. Default: the largest that `algorithms` names
            and that can be allocated.
        **operands
            By their names, as for `run`. The result is overwritten.
        """
        with self._operands(handle, operands) as imported:
            return self._timed(
                handle, imported, workspace, imported.memory(self._names[2], written=True)
            )

    def _timed(
        self, handle: Handle, operands: Operands, workspace: Any, result: Any
    ) -> AlgorithmTable:
        first, second, _ = map(operands.memory, self._names)
        first_desc, second_desc, conv, result_desc = self.descriptors
        arguments = (first_desc, first, second_desc, second, conv, result_desc, result)
        with self._room(handle, workspace) as space:
            return self._query(self.functions.find_ex, handle, arguments, space)

    @contextmanager
    def _room(self, handle: Handle, workspace: Any) -> Iterator[tuple[Any, int]]:
        """The workspace of a search, and its size; it is allocated if it is None."""
        if workspace is not None:
            yield room("workspace", workspace, 0, handle)
            return
        sizes = {row.memory for row in self.algorithms(handle) if row.usable} | {0}
        for size in sorted(sizes, reverse=True):
            with suppress(OutOfDeviceMemoryError):
                own = DeviceBuffer(size, device=handle.device, stream=handle.stream)
                break
        with own:
            yield room("workspace", own, 0, handle)

    def _query(
        self,
        function: Callable[..., Any],
        handle: Handle,
        operands: tuple[Any, ...],
        workspace: tuple[Any, ...] = (),
    ) -> AlgorithmTable:
        returned = c_int()
        rows = (self.functions.performance_type * self.max_algorithm_count(handle))()
        function(handle, *operands, len(rows), returned, rows, *workspace)
        found = map(AlgorithmRow.of, rows[: returned.value])
        note = _ONE_WAY if handle.on_reference_device else ""
        return AlgorithmTable(found, function.__name__, self._types(), note)

    def _types(self) -> str:
        """Data types and layouts by the operands' names: x float32 NCHW, w float16 NHWC, ..."""
        descriptors = {name: self._desc(name) for name in self._names}
        named = [
            f"{name} {data_type_name(each.data_type)} {each.layout or 'with strides'}"
            for name, each in descriptors.items()
        ]
        computed = data_type_name(self.descriptors[2].compute_data_type)
        return f"{', '.join(named)}; computed in {computed}"

    def workspace_size(self, handle: Handle, algorithm: Any) -> int:
        """Bytes of workspace that an algorithm needs; follows ``cudnnGet…WorkspaceSize``.

        Parameters
        ----------
        algorithm : AlgorithmRow, enumerator or str
            A row also stands for its math type.
        """
        with Operands(handle) as operands:
            return self._workspace_size(handle, *self._parts(operands, algorithm))

    def _workspace_size(
        self, handle: Handle, conv: ConvolutionDescriptor, algorithm: CudnnEnum
    ) -> int:
        first, second, _, result = self.descriptors
        size = c_size_t()
        self.functions.workspace_size(handle, first, second, conv, result, algorithm, size)
        return size.value

    def _parts(self, operands: Operands, algorithm: Any) -> tuple[ConvolutionDescriptor, CudnnEnum]:
        """The convolution, with the math type of a row, and the enumerator of an algorithm."""
        conv, cls = self.descriptors[2], self.functions.algorithm_type
        if not isinstance(algorithm, AlgorithmRow):
            return conv, enumerator(cls, algorithm, "algorithm")
        if algorithm.math_type != conv.math_type:
            like = {**conv._arguments(), "math_type": algorithm.math_type}
            conv = operands.enter_context(ConvolutionDescriptor(**like))
        return conv, enumerator(cls, algorithm.algorithm, "algorithm")

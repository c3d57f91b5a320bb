"""A convolution in one direction: which algorithms can do it, what they need, and running one.

cuDNN asks for three steps: pick an algorithm, give it a workspace, launch it. An object here holds
the descriptors, so that the steps can be taken, timed and repeated one by one::

    forward = ConvolutionForward(x_desc, w_desc, conv, y_desc)
    row = forward.algorithms(handle).choose(memory_limit=1 << 24)
    with DeviceBuffer(forward.workspace_size(handle, row)) as workspace:
        forward.run(handle, x, w, y, algorithm=row, workspace=workspace)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_int, c_size_t
from typing import Any, ClassVar, NamedTuple

from .. import raw
from ..dtypes import data_type_name, host_scalar
from ..errors import CudnnError
from ..handle import Handle
from ..raw.ctypes_support import CudnnEnum
from .algorithm_table import AlgorithmRow, AlgorithmTable
from .convolution import ConvolutionDescriptor
from .enumerators import enumerator, short_name
from .launch import launch, recording
from .operands import AnyDescriptor, check_memory, new_workspace, workspace_memory

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
    """What the directions share. A subclass is a dataclass of four descriptors in C's order.

    They are called first operand, second operand, ``conv``, and result, here.
    """

    functions: ClassVar[ConvolutionFunctions]

    @property
    def descriptors(self) -> tuple[AnyDescriptor, AnyDescriptor, ConvolutionDescriptor, Any]:
        """The four descriptors in C's order."""
        first, second, conv, result = vars(self).values()
        return first, second, conv, result

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

    def find_ex(
        self, handle: Handle, first: Any, second: Any, result: Any, /, *, workspace: Any = None
    ) -> AlgorithmTable:
        """All algorithms, timed on memory of yours; follows ``cudnnFind…AlgorithmEx``.

        Parameters
        ----------
        first, second, result
            The operands in the order of the descriptors. `result` is overwritten.
        workspace : DeviceBuffer or tensor, optional
            Algorithms that need more are not timed. Left out: the largest that `algorithms` names.
        """
        first_desc, second_desc, conv, result_desc = self.descriptors
        memory = self._checked(handle, first, second, result)
        operands = (first_desc, memory[0], second_desc, memory[1], conv, result_desc, memory[2])
        own = None
        if workspace is None:
            sizes = [row.memory for row in self.algorithms(handle) if row.usable]
            own = workspace = new_workspace(handle, max(sizes, default=0))
        try:
            space = workspace_memory(handle, workspace)
            return self._query(self.functions.find_ex, handle, operands, space)
        finally:
            if own is not None:
                own.close()

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
        """The data types by the operands' names: x float32, w float16, and so on."""
        named = [
            f"{name.removesuffix('_desc')} {data_type_name(desc.data_type)}"
            for name, desc in vars(self).items()
            if name != "conv"
        ]
        computed = data_type_name(self.descriptors[2].compute_type)
        return f"{', '.join(named)}; computed in {computed}"

    def workspace_size(self, handle: Handle, algorithm: Any) -> int:
        """Bytes of workspace that an algorithm needs; follows ``cudnnGet…WorkspaceSize``.

        Parameters
        ----------
        algorithm : AlgorithmRow, enumerator or str
            A row also stands for its math type.
        """
        chosen, math_type = self._parts(algorithm)
        with _with_math_type(self.descriptors[2], math_type) as conv:
            return self._workspace_size(handle, conv, chosen)

    def _workspace_size(
        self, handle: Handle, conv: ConvolutionDescriptor, algorithm: CudnnEnum
    ) -> int:
        first, second, _, result = self.descriptors
        size = c_size_t()
        self.functions.workspace_size(handle, first, second, conv, result, algorithm, size)
        return size.value

    def _parts(self, algorithm: Any) -> tuple[CudnnEnum, raw.cudnnMathType_t | None]:
        cls = self.functions.algorithm_type
        if isinstance(algorithm, AlgorithmRow):
            return enumerator(cls, algorithm.algorithm, "algorithm"), algorithm.math_type
        return enumerator(cls, algorithm, "algorithm"), None

    # -- running -------------------------------------------------------------------------------

    def _run(
        self,
        handle: Handle,
        first: Any,
        second: Any,
        result: Any,
        *,
        alpha: float,
        beta: float,
        algorithm: Any,
        workspace: Any,
    ) -> None:
        """The launch, whose operands the subclasses name."""
        first_desc, second_desc, _, result_desc = self.descriptors
        memory = self._checked(handle, first, second, result)
        data_type = result_desc.data_type
        factor, keep = host_scalar(alpha, data_type), host_scalar(beta, data_type)
        with self.prepared(handle, algorithm, workspace) as (conv, chosen, space, size):
            launch(
                self.functions.launch,
                handle,
                factor,
                first_desc,
                memory[0],
                second_desc,
                memory[1],
                conv,
                chosen,
                space,
                size,
                keep,
                result_desc,
                memory[2],
            )

    def _checked(self, handle: Handle, first: Any, second: Any, result: Any) -> list[Any]:
        given = zip(vars(self), (first, second, None, result), self.descriptors, strict=True)
        return [
            check_memory(name.removesuffix("_desc"), value, desc, handle, written=value is result)
            for name, value, desc in given
            if name != "conv"
        ]

    @contextmanager
    def prepared(
        self, handle: Handle, algorithm: Any, workspace: Any
    ) -> Iterator[tuple[ConvolutionDescriptor, Any, Any, int]]:
        """What one launch inside ``with`` takes: as for `run`.

        Yields the convolution with the algorithm's math type, the algorithm, the workspace and its
        size in bytes.
        """
        space, size = workspace_memory(handle, workspace)
        if algorithm is None:
            limit = None if workspace is None else size
            algorithm = self.algorithms(handle).choose(memory_limit=limit)
        chosen, math_type = self._parts(algorithm)
        own = None
        with _with_math_type(self.descriptors[2], math_type) as conv:
            if workspace is None:
                own = new_workspace(handle, self._workspace_size(handle, conv, chosen))
                space, size = workspace_memory(handle, own)
            try:
                yield conv, chosen, space, size
            except CudnnError as error:
                # cuDNN checks the size itself, but says little; asking first would cost every call.
                self._explain(error, handle, conv, chosen, size)
                raise
            finally:
                if own is not None:
                    own.close()

    def _explain(
        self,
        error: CudnnError,
        handle: Handle,
        conv: ConvolutionDescriptor,
        chosen: CudnnEnum,
        size: int,
    ) -> None:
        try:
            needed = self._workspace_size(handle, conv, chosen)
        except CudnnError:
            return
        if needed > size:
            raise ValueError(
                f"workspace: {size} bytes are too small, {short_name(chosen)} needs {needed} bytes"
            ) from error


@contextmanager
def _with_math_type(
    conv: ConvolutionDescriptor, math_type: raw.cudnnMathType_t | None
) -> Iterator[ConvolutionDescriptor]:
    """`conv`, or a convolution like it with another math type."""
    if math_type is None or math_type == conv.math_type:
        yield conv
        return
    like = ConvolutionDescriptor(**{**conv._arguments(), "math_type": math_type})
    if (current := recording()) is not None:
        yield current.stack.enter_context(like)
        return
    with like:
        yield like

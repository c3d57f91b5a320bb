"""The three directions of a convolution: forward, and the gradients of the data and the filter.

cuDNN asks for three steps: pick an algorithm, give it a workspace, launch it. An object here holds
the descriptors, so that the steps can be taken, timed and repeated one by one::

    forward = ConvolutionForward(x_desc, w_desc, conv, y_desc)
    row = forward.algorithms(handle).choose(memory_limit=1 << 24)
    with DeviceBuffer(forward.workspace_size(handle, row)) as workspace:
        forward.run(handle, x=x, w=w, y=y, algorithm=row, workspace=workspace)
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from .. import raw
from ..errors import CudnnError
from ..handle import Handle
from ..raw.ctypes_support import short_name
from ..raw.records import record
from ..runtime import DeviceBuffer
from ..runtime.launching.plan import Memory, recording
from .convolution import ConvolutionDescriptor
from .convolution_algorithms import AlgorithmRow, ConvolutionAlgorithms
from .documentation import launched
from .operands import Operands, room
from .tensor import FilterDescriptor, TensorDescriptor


class ConvolutionDirection(ConvolutionAlgorithms):
    """Running a convolution in one direction."""

    def _run(
        self,
        handle: Handle,
        operands: dict[str, Any],
        factors: tuple[float, float],
        algorithm: Any,
        workspace: Any,
    ) -> None:
        """Run in any direction; `operands` by name, `factors` are alpha and beta."""
        alpha, beta = factors
        with self._operands(handle, operands) as imported:
            self._launch(handle, imported, algorithm, workspace, alpha=alpha, beta=beta)

    def _launch(
        self,
        handle: Handle,
        operands: Operands,
        algorithm: Any,
        workspace: Any,
        *,
        function: Any = None,
        **arguments: Any,
    ) -> None:
        """Launch with imported operands: what `_run` and the functions for convolutions share.

        - `function`: default: the one of this direction.
        - `**arguments`: its other arguments, by C's names.
        """
        space, size = room("workspace", workspace, 0, handle)
        limit = None if workspace is None else size
        if is_find(algorithm):
            reads = arguments.get("beta", arguments.get("alpha2")) != 0  # what the result holds
            algorithm = self._fastest(handle, operands, workspace, limit, reads)
        elif algorithm is None:
            algorithm = self.algorithms(handle).choose(memory_limit=limit)
        conv, chosen = self._parts(operands, algorithm)
        if workspace is None:
            space, size = operands.workspace(None, self._workspace_size(handle, conv, chosen))
        arguments |= {"convDesc": conv, "algo": chosen}
        arguments |= {"workSpace": space, "workSpaceSizeInBytes": size}
        try:
            operands.launch(function or self._function("{}"), **arguments)
        except CudnnError as error:
            # cuDNN checks the size itself, but says little; some need less than they ask for.
            with suppress(CudnnError):
                needed = self._workspace_size(handle, conv, chosen)
                if needed > size:
                    raise ValueError(
                        f"workspace: {size} bytes are too small, {short_name(chosen)} needs "
                        f"{needed} bytes"
                    ) from error
            raise

    def _fastest(
        self, handle: Handle, operands: Operands, workspace: Any, limit: int | None, reads: bool
    ) -> AlgorithmRow:
        """The algorithm that is fastest with these operands, timed once for these descriptors."""
        key = type(self), limit, *map(record, self.descriptors)
        timed = handle._fastest_algorithms
        if key not in timed:
            current, result = recording(), self._names[2]
            checked = operands.memory(result, written=True)
            with ExitStack() as stack:
                if reads or (current is not None and not current.launches):
                    # What the result holds must outlive the search, which overwrites it.
                    size = self.descriptors[3].size_in_bytes
                    own = DeviceBuffer(size, device=handle.device, stream=handle.stream)
                    checked = Memory(result, stack.enter_context(own), written=True)
                table = self._timed(handle, operands, workspace, checked)
            timed.keep(key, table.choose(memory_limit=limit))
        return cast(AlgorithmRow, timed[key])


def is_find(algorithm: Any) -> bool:
    """Whether the argument `algorithm` asks for the fastest one."""
    return isinstance(algorithm, str) and algorithm.lower() == "find"


@dataclass(frozen=True)
class ConvolutionForward(ConvolutionDirection):
    """y = conv(x, w); follows ``cudnnConvolutionForward`` and its queries.

    Raises ValueError if the shapes do not fit together. The descriptors are not closed with it.

    Examples
    --------
    >>> x_desc, w_desc = TensorDescriptor((8, 16, 32, 32)), FilterDescriptor((32, 16, 3, 3))
    >>> with Handle() as handle, ConvolutionDescriptor(padding=1) as conv:
    ...     forward = ConvolutionForward(x_desc, w_desc, conv, TensorDescriptor((8, 32, 32, 32)))
    ...     print(forward.algorithms(handle).choose().algorithm.name)
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
    """

    x_desc: TensorDescriptor
    w_desc: FilterDescriptor
    conv: ConvolutionDescriptor
    y_desc: TensorDescriptor

    direction: ClassVar[str] = "ConvolutionForward"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.y_desc.data_type == raw.CUDNN_DATA_INT32:
            # Offered, launched, and wrong: seen with cuDNN 9.14 and 9.19 on an H200.
            raise ValueError(
                "y: cuDNN documents no convolution with an int32 result, and the one that it "
                "offers gives wrong numbers; take float32 for the sums, or int8"
            )

    @launched
    def run(
        self,
        handle: Handle,
        *,
        x: Any,
        w: Any,
        y: Any,
        alpha: float = 1,
        beta: float = 0,
        algorithm: Any = None,
        workspace: Any = None,
    ) -> None:
        """y = alpha * conv(x, w) + beta * y, on the handle's stream.

        Parameters
        ----------
        x, w, y : DeviceTensor, DeviceBuffer, address or tensor of another library
            The descriptors say how the memory is read; size and data type of typed memory are
            checked.
        alpha, beta : float
            Factors. With beta = 0 what y held is not read.
        algorithm : AlgorithmRow, enumerator or str, optional
            As for `convolution_forward`. A row's math type is taken instead of the convolution's.

        Raises
        ------
        ValueError
            If an operand or the workspace is too small; the message gives both sizes.
        NotSupportedError
            If no algorithm fits.
        """
        operands = {"x": x, "w": w, "y": y}
        self._run(handle, operands, (alpha, beta), algorithm, workspace)


@dataclass(frozen=True)
class ConvolutionBackwardData(ConvolutionDirection):
    """dx, the gradient of x, from w and dy; follows ``cudnnConvolutionBackwardData``.

    Raises ValueError if the shapes do not fit together. The descriptors are not closed with it.

    Examples
    --------
    >>> w = DeviceTensor.full((1, 1, 1, 2), 1, "float32")
    >>> dy = DeviceTensor.from_numpy(np.array([1, 2], "float32").reshape(1, 1, 1, 2))
    >>> dx = DeviceTensor.zeros((1, 1, 1, 3), "float32")
    >>> conv, w_desc = ConvolutionDescriptor(), FilterDescriptor(w.shape)
    >>> dy_desc, dx_desc = TensorDescriptor(dy.shape), TensorDescriptor(dx.shape)
    >>> with Handle() as handle:
    ...     ConvolutionBackwardData(w_desc, dy_desc, conv, dx_desc).run(handle, w=w, dy=dy, dx=dx)
    >>> dx.numpy().ravel()
    array([1., 3., 2.], dtype=float32)
    """

    w_desc: FilterDescriptor
    dy_desc: TensorDescriptor
    conv: ConvolutionDescriptor
    dx_desc: TensorDescriptor

    direction: ClassVar[str] = "ConvolutionBackwardData"

    @launched
    def run(
        self,
        handle: Handle,
        *,
        w: Any,
        dy: Any,
        dx: Any,
        alpha: float = 1,
        beta: float = 0,
        algorithm: Any = None,
        workspace: Any = None,
    ) -> None:
        """dx = alpha * (gradient of x) + beta * dx, on the handle's stream.

        Follows ``cudnnConvolutionBackwardData``.

        Parameters
        ----------
        w, dy : tensor, buffer or address
            Filters and gradient of y, as their descriptors say.
        dx : tensor, buffer or address
            Gradient of x: written.

        The other parameters, and the errors, are those of `ConvolutionForward.run`.
        """
        operands = {"w": w, "dy": dy, "dx": dx}
        self._run(handle, operands, (alpha, beta), algorithm, workspace)


@dataclass(frozen=True)
class ConvolutionBackwardFilter(ConvolutionDirection):
    """dw, the gradient of w, from x and dy; follows ``cudnnConvolutionBackwardFilter``.

    Raises ValueError if the shapes do not fit together. The descriptors are not closed with it.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3], "float32").reshape(1, 1, 1, 3))
    >>> dy = DeviceTensor.full((1, 1, 1, 2), 1, "float32")
    >>> dw = DeviceTensor.zeros((1, 1, 1, 2), "float32")
    >>> conv, dw_desc = ConvolutionDescriptor(), FilterDescriptor(dw.shape)
    >>> x_desc, dy_desc = TensorDescriptor(x.shape), TensorDescriptor(dy.shape)
    >>> with Handle() as handle:
    ...     ConvolutionBackwardFilter(x_desc, dy_desc, conv, dw_desc).run(handle, x=x, dy=dy, dw=dw)
    >>> dw.numpy().ravel()
    array([3., 5.], dtype=float32)
    """

    x_desc: TensorDescriptor
    dy_desc: TensorDescriptor
    conv: ConvolutionDescriptor
    dw_desc: FilterDescriptor

    direction: ClassVar[str] = "ConvolutionBackwardFilter"

    @launched
    def run(
        self,
        handle: Handle,
        *,
        x: Any,
        dy: Any,
        dw: Any,
        alpha: float = 1,
        beta: float = 0,
        algorithm: Any = None,
        workspace: Any = None,
    ) -> None:
        """dw = alpha * (gradient of w) + beta * dw, on the handle's stream.

        Follows ``cudnnConvolutionBackwardFilter``.

        Parameters
        ----------
        x, dy : tensor, buffer or address
            Image and gradient of y, as their descriptors say.
        dw : tensor, buffer or address
            Gradient of w: written.

        The other parameters, and the errors, are those of `ConvolutionForward.run`.
        """
        operands = {"x": x, "dy": dy, "dw": dw}
        self._run(handle, operands, (alpha, beta), algorithm, workspace)

"""The three directions of a convolution: forward, and the gradients of the data and the filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .. import raw
from ..handle import Handle
from .convolution import ConvolutionDescriptor
from .convolution_algorithms import ConvolutionAlgorithms, ConvolutionFunctions
from .filter import FilterDescriptor
from .launch import launched
from .operands import expect
from .tensor import TensorDescriptor

__all__ = ["ConvolutionBackwardData", "ConvolutionBackwardFilter", "ConvolutionForward"]


@dataclass(frozen=True)
class ConvolutionForward(ConvolutionAlgorithms):
    """y = conv(x, w); follows ``cudnnConvolutionForward`` and its queries.

    Raises ValueError if the shapes do not fit together. The descriptors are not closed with it.
    """

    x_desc: TensorDescriptor
    w_desc: FilterDescriptor
    conv: ConvolutionDescriptor
    y_desc: TensorDescriptor

    functions: ClassVar[ConvolutionFunctions] = ConvolutionFunctions(
        algorithm_type=raw.cudnnConvolutionFwdAlgo_t,
        performance_type=raw.cudnnConvolutionFwdAlgoPerf_t,
        max_count=raw.cudnnGetConvolutionForwardAlgorithmMaxCount,
        suggest=raw.cudnnGetConvolutionForwardAlgorithm_v7,
        find=raw.cudnnFindConvolutionForwardAlgorithm,
        find_ex=raw.cudnnFindConvolutionForwardAlgorithmEx,
        workspace_size=raw.cudnnGetConvolutionForwardWorkspaceSize,
        launch=raw.cudnnConvolutionForward,
    )

    def __post_init__(self) -> None:
        _check("x", self.x_desc, "w", self.w_desc, self.conv, "y", self.y_desc)
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
        x: Any,
        w: Any,
        y: Any,
        *,
        alpha: float = 1,
        beta: float = 0,
        algorithm: Any = None,
        workspace: Any = None,
    ) -> None:
        """y = alpha * convolution + beta * y, on the handle's stream.

        Parameters
        ----------
        x, w, y : DeviceTensor, DeviceBuffer, address or tensor of another library
            The descriptors say how the memory is read. Only the size and the data type of what is
            given are checked.
        alpha, beta : float
            Factors. With beta = 0 what y held is not read.
        algorithm : AlgorithmRow, enumerator or str, optional
            Left out: the heuristic's best one (for the size of `workspace`, if that is given). A
            row's math type is taken instead of the convolution's.
        workspace : DeviceBuffer or tensor, optional
            Left out: allocated, and freed after the work, on the handle's stream.

        Raises
        ------
        ValueError
            If an operand or the workspace is too small; the message gives both sizes.
        NotSupportedError
            If no algorithm fits.
        """
        self._run(
            handle,
            x,
            w,
            y,
            alpha=alpha,
            beta=beta,
            algorithm=algorithm,
            workspace=workspace,
        )


@dataclass(frozen=True)
class ConvolutionBackwardData(ConvolutionAlgorithms):
    """dx, the gradient of x, from w and dy; follows ``cudnnConvolutionBackwardData``.

    Raises ValueError if the shapes do not fit together. The descriptors are not closed with it.
    """

    w_desc: FilterDescriptor
    dy_desc: TensorDescriptor
    conv: ConvolutionDescriptor
    dx_desc: TensorDescriptor

    functions: ClassVar[ConvolutionFunctions] = ConvolutionFunctions(
        algorithm_type=raw.cudnnConvolutionBwdDataAlgo_t,
        performance_type=raw.cudnnConvolutionBwdDataAlgoPerf_t,
        max_count=raw.cudnnGetConvolutionBackwardDataAlgorithmMaxCount,
        suggest=raw.cudnnGetConvolutionBackwardDataAlgorithm_v7,
        find=raw.cudnnFindConvolutionBackwardDataAlgorithm,
        find_ex=raw.cudnnFindConvolutionBackwardDataAlgorithmEx,
        workspace_size=raw.cudnnGetConvolutionBackwardDataWorkspaceSize,
        launch=raw.cudnnConvolutionBackwardData,
    )

    def __post_init__(self) -> None:
        _check("dx", self.dx_desc, "w", self.w_desc, self.conv, "dy", self.dy_desc)

    @launched
    def run(
        self,
        handle: Handle,
        w: Any,
        dy: Any,
        dx: Any,
        *,
        alpha: float = 1,
        beta: float = 0,
        algorithm: Any = None,
        workspace: Any = None,
    ) -> None:
        """dx = alpha * (gradient of x) + beta * dx; as `ConvolutionForward.run`."""
        self._run(
            handle,
            w,
            dy,
            dx,
            alpha=alpha,
            beta=beta,
            algorithm=algorithm,
            workspace=workspace,
        )


@dataclass(frozen=True)
class ConvolutionBackwardFilter(ConvolutionAlgorithms):
    """dw, the gradient of w, from x and dy; follows ``cudnnConvolutionBackwardFilter``.

    Raises ValueError if the shapes do not fit together. The descriptors are not closed with it.
    """

    x_desc: TensorDescriptor
    dy_desc: TensorDescriptor
    conv: ConvolutionDescriptor
    dw_desc: FilterDescriptor

    functions: ClassVar[ConvolutionFunctions] = ConvolutionFunctions(
        algorithm_type=raw.cudnnConvolutionBwdFilterAlgo_t,
        performance_type=raw.cudnnConvolutionBwdFilterAlgoPerf_t,
        max_count=raw.cudnnGetConvolutionBackwardFilterAlgorithmMaxCount,
        suggest=raw.cudnnGetConvolutionBackwardFilterAlgorithm_v7,
        find=raw.cudnnFindConvolutionBackwardFilterAlgorithm,
        find_ex=raw.cudnnFindConvolutionBackwardFilterAlgorithmEx,
        workspace_size=raw.cudnnGetConvolutionBackwardFilterWorkspaceSize,
        launch=raw.cudnnConvolutionBackwardFilter,
    )

    def __post_init__(self) -> None:
        _check("x", self.x_desc, "dw", self.dw_desc, self.conv, "dy", self.dy_desc)

    @launched
    def run(
        self,
        handle: Handle,
        x: Any,
        dy: Any,
        dw: Any,
        *,
        alpha: float = 1,
        beta: float = 0,
        algorithm: Any = None,
        workspace: Any = None,
    ) -> None:
        """dw = alpha * (gradient of w) + beta * dw; as `ConvolutionForward.run`."""
        self._run(
            handle,
            x,
            dy,
            dw,
            alpha=alpha,
            beta=beta,
            algorithm=algorithm,
            workspace=workspace,
        )


def _check(
    image: str,
    x_desc: TensorDescriptor,
    filters: str,
    w_desc: FilterDescriptor,
    conv: ConvolutionDescriptor,
    output: str,
    y_desc: TensorDescriptor,
) -> None:
    """Refuse descriptors that are not of their kind, or do not fit together."""
    expect(f"{image}_desc", x_desc, TensorDescriptor)
    expect(f"{filters}_desc", w_desc, FilterDescriptor)
    expect("conv", conv, ConvolutionDescriptor)
    expect(f"{output}_desc", y_desc, TensorDescriptor)
    expected, given = conv.output_shape(x_desc, w_desc), y_desc.shape
    if given != expected:
        raise ValueError(
            f"{output}: expected shape {expected}, got {given}: {image} {x_desc.shape} and "
            f"{filters} {w_desc.shape} with padding {conv.padding}, stride {conv.stride}, dilation "
            f"{conv.dilation}"
        )

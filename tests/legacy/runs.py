"""Carrying out a problem through layer 2."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cudnn_ctypes as cudnn

from .convolutions import Operands, Problem


class Run(ExitStack):
    """The operands of a problem on a device, with which any operation can be called."""

    def __init__(self, handle: cudnn.Handle, problem: Problem, given: Operands) -> None:
        super().__init__()
        self.handle = handle
        self.problem = problem
        kind = problem.kind
        self.layout = problem.layout
        self.y_layout = "NCHW" if problem.layout.startswith("NCHW") else "NHWC"
        if kind.y.startswith("int8x"):
            self.y_layout = problem.layout
        self.x = self.put(given.x, kind.x, self.layout, gaps=problem.gaps)
        self.w = self.put(given.w, kind.x, self.layout)
        self.dy = self.put(given.dy, kind.y, self.y_layout)
        self.z = self.put(given.z, kind.y, self.y_layout)
        self.bias = self.put(given.bias, None, None)
        self.prior = given.prior
        self.conv = self.enter_context(
            cudnn.ConvolutionDescriptor(
                problem.padding,
                problem.stride,
                problem.dilation,
                groups=problem.groups,
                mode=problem.mode,
                compute_data_type=kind.compute,
                math_type=problem.math_type,
            )
        )

    def put(
        self, array: NDArray[Any], data_type: str | None, layout: str | None, *, gaps: bool = False
    ) -> cudnn.DeviceTensor:
        """An array on the device; with gaps between its rows and images."""
        strides = None
        if gaps:
            roomy = np.empty([n + (i in (0, array.ndim - 1)) for i, n in enumerate(array.shape)])
            strides, layout = [step // roomy.itemsize for step in roomy.strides], None
        tensor = cudnn.DeviceTensor.from_numpy(
            array, dtype=data_type, layout=layout, strides=strides, stream=self.handle.stream
        )
        return self.enter_context(tensor)

    def directions(self) -> dict[str, Any]:
        """The three directions, with descriptors as the operations make them."""
        layout = self.problem.layout if self.problem.layout in ("NCHW", "NHWC") else None

        def tensor(value: cudnn.DeviceTensor) -> cudnn.TensorDescriptor:
            return self.enter_context(cudnn.TensorDescriptor.of(value, layout=layout, min_dims=4))

        w = self.enter_context(cudnn.FilterDescriptor.of(self.w, layout=layout, min_dims=4))
        x, y = tensor(self.x), tensor(self.dy)
        make: dict[str, Any] = {
            "forward": lambda: cudnn.ConvolutionForward(x, w, self.conv, y),
            "backward_data": lambda: cudnn.ConvolutionBackwardData(w, y, self.conv, x),
            "backward_filter": lambda: cudnn.ConvolutionBackwardFilter(x, y, self.conv, w),
        }
        return make

    def carry_out(self, operation: str, *, identity: bool = False) -> tuple[NDArray[Any], str]:
        """The result on the host, and the name of the algorithm that made it."""
        problem, handle, row = self.problem, self.handle, None
        direction = "forward" if operation == "fused" else operation
        if operation != "backward_bias" and not (operation == "fused" and identity):
            row = self.directions()[direction]().algorithms(handle).choose()
        kind = problem.kind
        factors: dict[str, Any] = {"alpha": problem.alpha, "beta": problem.beta}
        match operation:
            case "forward":
                result = self.put(self.prior, kind.y, self.y_layout)
                cudnn.convolution_forward(
                    handle, self.x, self.w, self.conv, result, algorithm=row, **factors
                )
            case "backward_data":
                result = self.put(self.prior, kind.x, self.layout)
                cudnn.convolution_backward_data(
                    handle, self.conv, w=self.w, dy=self.dy, dx=result, algorithm=row, **factors
                )
            case "backward_filter":
                result = self.put(self.prior, kind.x, self.layout)
                cudnn.convolution_backward_filter(
                    handle, self.conv, x=self.x, dy=self.dy, dw=result, algorithm=row, **factors
                )
            case "backward_bias":
                result = self.put(self.prior, kind.y, None)
                cudnn.convolution_backward_bias(handle, dy=self.dy, db=result, **factors)
            case _:
                result = self.put(self.prior, kind.y, self.y_layout)
                z = {"z": self.z, "alpha2": problem.beta} if problem.beta else {}
                cudnn.convolution_bias_activation_forward(
                    handle,
                    self.x,
                    self.w,
                    self.conv,
                    self.bias,
                    "identity" if identity else "relu",
                    result,
                    alpha1=problem.alpha,
                    algorithm=row,
                    **z,
                )
        algorithm = "IMPLICIT_PRECOMP_GEMM" if row is None else row.algorithm.name
        return result.numpy(stream=handle.stream), algorithm

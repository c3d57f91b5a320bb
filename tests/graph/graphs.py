"""Small operation graphs for the tests of the layer below the builder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor

X, W, Y, Z = 1, 2, 3, 4  # unique ids


def nhwc(shape: Sequence[int]) -> list[int]:
    """Strides of a shape n, c, h, w whose channels lie together."""
    _, c, h, w = shape
    return [c * h * w, 1, w * c, c]


class Made:
    """Descriptors that are closed together, the newest first."""

    def __init__(self) -> None:
        self.stack = ExitStack()

    def __call__(self, kind: str, **attributes: Any) -> BackendDescriptor:
        return self.stack.enter_context(BackendDescriptor(kind, **attributes).finalize())

    def tensor(self, uid: int, shape: Sequence[int], **more: Any) -> BackendDescriptor:
        return self(
            "tensor",
            unique_id=uid,
            data_type="float16",
            byte_alignment=16,
            dimensions=list(shape),
            strides=nhwc(shape),
            **more,
        )

    def convolution(
        self, x: Sequence[int], k: int, *, relu: bool = False, **graph: Any
    ) -> BackendDescriptor:
        """A 3x3 convolution of fp16 NHWC with padding 1, perhaps with a ReLU after it."""
        y_shape = [x[0], k, *x[2:]]
        y = self.tensor(Y, y_shape)
        conv_y = self.tensor(Z, y_shape, is_virtual=True) if relu else y
        geometry = self(
            "convolution",
            spatial_dims=2,
            comp_type="float32",
            conv_mode="cross_correlation",
            pre_paddings=[1, 1],
            post_paddings=[1, 1],
            dilations=[1, 1],
            filter_strides=[1, 1],
        )
        operations = [
            self(
                "operation_convolution_forward",
                conv_desc=geometry,
                alpha=1.0,
                beta=0.0,
                x=self.tensor(X, x),
                w=self.tensor(W, [k, x[1], 3, 3]),
                y=conv_y,
            )
        ]
        if relu:
            mode = self("pointwise", mode="relu_fwd", math_prec="float32")
            operations.append(
                self("operation_pointwise", pw_descriptor=mode, xdesc=conv_y, ydesc=y)
            )
        return self("operationgraph", ops=operations, **graph)

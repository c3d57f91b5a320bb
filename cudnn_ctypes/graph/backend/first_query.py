"""Which GPU cuDNN is asked about first in a process, where that decides about all others."""

from __future__ import annotations

import contextlib
import functools

from ... import raw
from ...absent_gpu.properties import preset
from ...errors import CudnnError, SymbolNotFoundError
from .descriptor import BackendDescriptor
from .device_properties import DeviceProperties

__all__ = ["ask_about_another_first"]


def ask_about_another_first(device: DeviceProperties) -> None:
    """Before the first question about a GPU without TF32, ask about one that has it.

    With the first heuristics query for a product or a fused convolution cuDNN decides, for the
    whole process, whether there is TF32. If that is about a Turing GPU, a float32 convolution for
    an H200 has 82 configs and engines instead of 113 from then on, and none with TF32 (cuDNN 9.28).
    What is proposed for the Turing GPU is the same in both orders.
    """
    if device.compute_capability < (8, 0):
        _ask()


@functools.cache
def _ask() -> None:
    with contextlib.ExitStack() as stack, contextlib.suppress(CudnnError, SymbolNotFoundError):

        def made(kind: str, **attributes: object) -> BackendDescriptor:
            descriptor = BackendDescriptor(kind, **attributes)
            stack.callback(descriptor.close)
            return descriptor.finalize()

        layout = {"dimensions": [1, 64, 64], "strides": [4096, 64, 1], "byte_alignment": 16}
        a, b, c = (
            made("tensor", unique_id=uid, data_type=raw.CUDNN_DATA_HALF, **layout)
            for uid in (1, 2, 3)
        )
        matmul = made("matmul", comp_type=raw.CUDNN_DATA_FLOAT)
        product = made("operation_matmul", adesc=a, bdesc=b, cdesc=c, desc=matmul)
        graph = made("operationgraph", ops=[product])
        newer = stack.enter_context(DeviceProperties(preset("h200")))
        mode = raw.CUDNN_HEUR_MODE_A
        made("engineheur", operation_graph=graph, mode=mode, deviceprop=newer)

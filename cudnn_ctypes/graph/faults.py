"""Engines that give wrong numbers without a word; heuristics propose them all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..raw import cudnnDataType_t
from .node import Node

__all__ = ["faulty_engines"]


def faulty_engines(nodes: Sequence[Node]) -> Mapping[int, str]:
    """The engines that a validated graph must not be built with, and why.

    They can still be chosen by name.
    """
    if len(nodes) == 1 and nodes[0].kind.descriptor == "operation_resample_fwd":
        image = nodes[0].inputs["input"]
        channels_last = image.strides is not None and image.strides[1] == 1
        if channels_last and image.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16:
            # Seen on an H200 with cuDNN 9.14 and 9.19: it takes bfloat16 for another type.
            return {3: "it gives wrong numbers for bfloat16"}
    return {}

"""cuDNN's causal convolutions by the front end's names: C's functions with C's arguments.

All arguments go by their place, in the order of the C function: the address of the stream, memory
(an address, or anything that layer 1 takes as device memory; 0 where there is none), sizes, then
data types and activations. These are C's numbers, as in the front end, or a ``data_type``. They
raise what layer 1 raises; ``cudnn_ctypes.causal_convolution_forward`` and its kin allocate results
and check shapes.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from .. import raw
from .c_members import c_data_type

__all__ = [
    "b2b_causal_conv1d_backward",
    "b2b_causal_conv1d_forward",
    "c_argument",
    "causal_conv1d_backward",
    "causal_conv1d_forward",
    "causal_conv1d_nwh_backward",
    "causal_conv1d_nwh_forward",
    "fft_causal_conv1d_backward",
    "fft_causal_conv1d_forward",
    "long_fft_causal_conv1d_backward",
    "long_fft_causal_conv1d_forward",
    "long_fft_causal_conv1d_get_buffer_sizes",
]


def c_argument(name: str, value: Any) -> Any:
    """The argument as layer 1 takes it, by the C name of its parameter.

    Raises
    ------
    TypeError
        If a data type is not one.
    """
    if name.lower().endswith(("datatype", "idxtype", "gradtype", "weighttype")):
        number = isinstance(value, int) and not isinstance(value, raw.cudnnDataType_t)
        return raw.cudnnDataType_t(value) if number else c_data_type(value)
    if name == "activation":
        return raw.cudnnCausalConv1dActivation_t(value)
    return None if type(value) is int and value == 0 else value


Launch: TypeAlias = Callable[..., None]


def _as_in_c(name: str, c_name: str) -> Launch:
    """C's function of this name, with arguments by their place."""
    function = getattr(raw, c_name)
    parameters = inspect.signature(function).parameters
    places = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_ONLY) for each in parameters]
    signature = inspect.Signature(places)

    def launch(*arguments: Any) -> None:
        in_order = signature.bind(*arguments).arguments
        sizes = ("batch", "dim", "seqLen", "kernelSize", "SizeInBytes")
        function(
            *(
                value
                if each.startswith(sizes[:-1]) or each.endswith(sizes[-1])
                else c_argument(each, value)
                for each, value in in_order.items()
            )
        )

    launch.__name__ = launch.__qualname__ = name
    launch.__doc__ = f"``{c_name}``, with its arguments by their place; see the module."
    vars(launch)["__signature__"] = signature
    return launch


causal_conv1d_forward: Launch = _as_in_c("causal_conv1d_forward", "cudnnCausalConv1dForward")
causal_conv1d_backward: Launch = _as_in_c("causal_conv1d_backward", "cudnnCausalConv1dBackward")
causal_conv1d_nwh_forward: Launch = _as_in_c(
    "causal_conv1d_nwh_forward", "cudnnCausalConv1dNwhForward"
)
causal_conv1d_nwh_backward: Launch = _as_in_c(
    "causal_conv1d_nwh_backward", "cudnnCausalConv1dNwhBackward"
)
b2b_causal_conv1d_forward: Launch = _as_in_c(
    "b2b_causal_conv1d_forward", "cudnnB2BCausalConv1dForward"
)
b2b_causal_conv1d_backward: Launch = _as_in_c(
    "b2b_causal_conv1d_backward", "cudnnB2BCausalConv1dBackward"
)
fft_causal_conv1d_forward: Launch = _as_in_c(
    "fft_causal_conv1d_forward", "cudnnFFTCausalConv1dForward"
)
fft_causal_conv1d_backward: Launch = _as_in_c(
    "fft_causal_conv1d_backward", "cudnnFFTCausalConv1dBackward"
)
long_fft_causal_conv1d_forward: Launch = _as_in_c(
    "long_fft_causal_conv1d_forward", "cudnnLongFFTCausalConv1dForward"
)
long_fft_causal_conv1d_backward: Launch = _as_in_c(
    "long_fft_causal_conv1d_backward", "cudnnLongFFTCausalConv1dBackward"
)


def long_fft_causal_conv1d_get_buffer_sizes(
    batch: int, dim: int, seq_len: int, kernel_size: int, data_type: Any, /
) -> tuple[int, int]:
    """Bytes of workspace and of reserve space; ``cudnnLongFFTCausalConv1dGetBufferSizes``."""
    workspace, reserve_space = ctypes.c_size_t(), ctypes.c_size_t()
    raw.cudnnLongFFTCausalConv1dGetBufferSizes(
        batch,
        dim,
        seq_len,
        kernel_size,
        c_argument("dataType", data_type),
        workspace,
        reserve_space,
    )
    return workspace.value, reserve_space.value

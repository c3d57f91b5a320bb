"""The direct causal convolutions on the reference device; they take a stream and no handle.

The gradients of filters and biases, in/out parameters in C, are added to their memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ..causal_convolution import (
    back_to_back_convolution_backward,
    back_to_back_convolution_forward,
    causal_convolution_backward,
    causal_convolution_forward,
)
from .call import Call
from .causal_call import check_activation, check_sizes, check_width, types
from .registry import implements

WIDEST, WIDEST_CHANNELS_LAST, WIDEST_PROJECTION = 256, 128, 32


class _Direct:
    """A call of a direct convolution, checked; views of its memory, in either layout."""

    def __init__(self, call: Call) -> None:
        call.require_memory()
        self.call, self.channels_last = call, "Nwh" in call.name
        self.sizes = check_sizes(call)
        widest = WIDEST_CHANNELS_LAST if self.channels_last else WIDEST
        self.width = check_width(call, "kernelSize", widest)
        self.activation = check_activation(call)
        self.data_type, self.compute_dtype = types(call)

    def sequence(self, name: str) -> NDArray[Any]:
        """(batch, dim, time)."""
        batch, dim, time = self.sizes
        if self.channels_last:
            return np.moveaxis(self.call.array(name, self.data_type, batch, time, dim), 2, 1)
        return self.call.array(name, self.data_type, batch, dim, time)

    def filter(self, name: str, data_type: raw.cudnnDataType_t) -> NDArray[Any]:
        """(dim, width)."""
        dim = self.sizes[1]
        if self.channels_last:
            return self.call.array(name, data_type, self.width, dim).T
        return self.call.array(name, data_type, dim, self.width)

    def bias(self, name: str, data_type: raw.cudnnDataType_t) -> NDArray[Any]:
        """(dim,)."""
        return self.call.array(name, data_type, self.sizes[1])


@implements("cudnnCausalConv1dForward", "cudnnCausalConv1dNwhForward")
def forward(call: Call) -> None:
    here = _Direct(call)
    here.sequence("y")[...] = causal_convolution_forward(
        here.sequence("x"),
        here.filter("weight", here.data_type),
        here.bias("bias", here.data_type),
        here.activation,
        compute_dtype=here.compute_dtype,
    )


@implements("cudnnCausalConv1dBackward", "cudnnCausalConv1dNwhBackward")
def backward(call: Call) -> None:
    here = _Direct(call)
    dw = here.filter("dweight", call["dwDataType"])
    db = here.bias("dbias", call["dwDataType"])
    gradients = causal_convolution_backward(
        x=here.sequence("x"),
        w=here.filter("weight", here.data_type),
        dy=here.sequence("dy"),
        bias=here.bias("bias", here.data_type),
        activation=here.activation,
        dw=dw,
        db=db,
        compute_dtype=here.compute_dtype,
        dw_dtype=here.compute_dtype,
    )
    here.sequence("dx")[...] = gradients.dx
    dw[...], db[...] = gradients.dw, gradients.db


# -- back to back ----------------------------------------------------------------------------------


class _BackToBack:
    """A call of two convolutions one after the other, checked; views of its memory."""

    def __init__(self, call: Call) -> None:
        call.require_memory()
        batch, dim, time = check_sizes(call)
        projection = check_width(call, "kernelSizeProj", WIDEST_PROJECTION)
        mixer = check_width(call, "kernelSizeMixer", WIDEST)
        self.call = call
        self.data_type, self.compute_dtype = types(call)
        self.shapes: dict[str, tuple[int, ...]] = {
            "x": (batch, dim, 3, time),
            "weightsProj": (dim, 3, projection),
            "weightsMixer": (dim, mixer),
            "skipBias": (dim,),
            "y": (batch, dim, time),
        }

    def given(self) -> dict[str, NDArray[Any]]:
        """x and the parameters."""
        names = {"x": "x", "w_proj": "weightsProj", "w_mixer": "weightsMixer"}
        names["skip_bias"] = "skipBias"
        return {name: self.array(c_name, c_name) for name, c_name in names.items()}

    def array(self, name: str, like: str) -> NDArray[Any]:
        """The memory `name`, of the shape of `like`."""
        return self.call.array(name, self.data_type, *self.shapes[like])

    def gradient(self, like: str) -> NDArray[Any]:
        """The gradient of a parameter, which is added to."""
        data_type, shape = self.call["dwDataType"], self.shapes[like]
        return self.call.array(f"d{like}", data_type, *shape, use="update")


@implements("cudnnB2BCausalConv1dForward")
def back_to_back(call: Call) -> None:
    here = _BackToBack(call)
    results = back_to_back_convolution_forward(**here.given(), compute_dtype=here.compute_dtype)
    here.array("y", "y")[...] = results.y
    here.array("yGated", "y")[...] = results.gated


@implements("cudnnB2BCausalConv1dBackward")
def back_to_back_gradients(call: Call) -> None:
    """The gradients of the filters are added, as in the other forms; the header does not say."""
    here = _BackToBack(call)
    gradients = {
        "dw_proj": here.gradient("weightsProj"),
        "dw_mixer": here.gradient("weightsMixer"),
        "dskip_bias": here.gradient("skipBias"),
    }
    made = back_to_back_convolution_backward(
        **here.given(),
        y=here.array("y", "y"),
        dgated=here.array("dy", "y"),
        **gradients,
        compute_dtype=here.compute_dtype,
        dw_dtype=here.compute_dtype,
    )
    here.array("dx", "x")[...] = made.dx
    for name, view in gradients.items():
        view[...] = getattr(made, name)

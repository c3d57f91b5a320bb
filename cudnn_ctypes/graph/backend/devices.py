"""Arguments that name a GPU, and their device properties."""

from __future__ import annotations

import contextlib
import functools
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import raw
from ...absent_gpu.properties import gpu_values, preset
from ...errors import CudnnError, SymbolNotFoundError
from ...raw.process import new_lock
from ...raw.values import described
from .descriptor import BackendDescriptor
from .device_properties import DeviceProperties

if TYPE_CHECKING:
    from ...handle import Handle

DeviceLike: TypeAlias = "Handle | DeviceProperties | str | PathLike[str]"
"""A handle's GPU; the properties of one that need not be there; their preset or file."""

_lock = new_lock()
_shared: dict[str, DeviceProperties] = {}
"""Properties that were named, by their JSON text: one descriptor for each GPU, until the end."""


def as_device(device: DeviceLike) -> Handle | DeviceProperties:
    """The GPU that is meant.

    - `device`: a handle and properties are returned as they are. A string is the name of one of the
      `presets` ("B200", "rtx 4090"), a ".json" file that ``DeviceProperties.to_json`` or ``doctor
      --save-device`` wrote, or "here", the GPU of this machine. What such a name stands for belongs
      to this package and is not to be closed.

    Raises ValueError if there is no such preset or file; the message has names like it. Raises
    TypeError if `device` is something else. Raises NoDeviceError for "here" without a GPU.
    """
    if isinstance(device, (DeviceProperties, str, PathLike)):
        return as_properties(device)
    if isinstance(getattr(device, "_as_parameter_", None), raw.cudnnHandle_t):
        return device
    raise TypeError(
        "device: expected a Handle, DeviceProperties, the name of a preset, or a file, got "
        f"{described(device)}"
    )


def is_absent(device: Handle | DeviceProperties) -> bool:
    """Whether no GPU can be asked: it is known by its properties, as the reference device's is."""
    return isinstance(device, DeviceProperties) or device.on_reference_device


def as_properties(device: DeviceProperties | str | PathLike[str]) -> DeviceProperties:
    """Properties by name or file, like `as_device`; a handle is refused."""
    if isinstance(device, DeviceProperties):
        return device
    if not isinstance(device, (str, PathLike)):
        raise TypeError(
            "device: expected DeviceProperties, the name of a preset, or a file, got "
            f"{described(device)}"
        )
    if device == "here":
        return _kept(DeviceProperties.from_device())
    return _kept(DeviceProperties(gpu_values(device)))


def _kept(made: DeviceProperties) -> DeviceProperties:
    """Properties like these that are kept; these, if there are none."""
    with _lock:
        found = _shared.setdefault(made.to_json(), made)
        if found.descriptor.closed:
            found = _shared[made.to_json()] = made
    if found is not made:
        made.close()
    return found


def properties_text(device: Handle | DeviceProperties) -> str:
    """The properties of a GPU as JSON, for another process, or when the device may be closed."""
    if isinstance(device, DeviceProperties):
        return device.to_json()
    with DeviceProperties.from_device(handle=device) as properties:
        return properties.to_json()


def device_attribute(device: DeviceLike) -> dict[str, Any]:
    """The attribute by which a descriptor learns of the GPU: "deviceprop" or "handle".

    Raises ValueError or TypeError as in `as_device`.
    """
    meant = as_device(device)
    if not isinstance(meant, DeviceProperties):
        return {"handle": meant}
    ask_about_another_first(meant)
    return {"deviceprop": meant}


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

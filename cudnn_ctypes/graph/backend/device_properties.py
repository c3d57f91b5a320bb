"""Arguments that name a GPU, and the properties by which cuDNN chooses and compiles engines."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ... import raw
from ...absent_gpu.properties import (
    SOURCE,
    complete,
    compute_capability,
    gpu_values,
    preset,
    presets,
)
from ...arguments import suggestion
from ...errors import CudnnError, NoDeviceError, NotInitializedError, SymbolNotFoundError
from ...raw.process import new_lock
from ...raw.values import described
from ...resource import Closing
from .descriptor import BackendDescriptor

if TYPE_CHECKING:
    from ...handle import Handle


class DeviceProperties(Closing):
    """A finalized DEVICEPROP descriptor.

    Parameters
    ----------
    properties : str, bytes, mapping or os.PathLike
        The name of a GPU (`preset`), a file that `to_json` or ``doctor --save-device`` wrote, its
        text, or what it holds. See also `from_device`.

    Attributes
    ----------
    descriptor : BackendDescriptor
        For attributes such as ``engineheur.deviceprop``; they take this object too.
    filled : dict
        Keys that the loaded cuDNN wants and the JSON lacked, with the values that were put in.
    source : str
        "measured": read from the GPU by cuDNN; "public data": a preset that was put together from
        data sheets; "given". `to_json` writes it down.

    Raises
    ------
    ValueError
        If there is no such preset or file; if the text is no JSON object, or lacks a key whose
        value is not known.
    CudnnError
        If cuDNN refuses it.

    Notes
    -----
    Where there is no GPU, kernels that cuDNN compiles for such properties stay in its memory until
    the process ends, and the same graph is compiled anew each time: 0.2 MB for a float16 product of
    2 x 64 x 64, 1.5 MB for a float32 sum of 2 x 8 x 64 x 64 (cuDNN 9.28; the same calls from C lose
    as much, in cuDNN's own cache of kernels). With its GPU nothing is lost.

    Examples
    --------
    >>> DeviceProperties.preset("B200")
    DeviceProperties(NVIDIA B200, compute capability 10.0, from public data...)
    """

    def __init__(self, properties: str | bytes | Mapping[str, Any] | PathLike[str]) -> None:
        values = gpu_values(properties)
        self.source: str = str(values.pop(SOURCE, "given"))
        self.filled: dict[str, Any] = complete(values)
        try:
            text = json.dumps(values, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise TypeError(f"properties: {error}") from None
        self.descriptor: BackendDescriptor = BackendDescriptor(
            "deviceprop", json_representation=text
        )
        self.descriptor.finalize()
        self._values = values

    @classmethod
    def from_device(cls, device: int | None = None, *, handle: Any = None) -> DeviceProperties:
        """Properties of a GPU of this machine.

        Parameters
        ----------
        device : int, optional
            Its number; 0 by default.
        handle : Handle, optional
            Take the GPU of this handle instead.

        Raises
        ------
        NoDeviceError
            Without an NVIDIA GPU or its driver.
        CudnnError
            If there is none of this number.
        """
        if handle is not None and device is not None:
            raise TypeError("give a device or a handle, not both")
        chosen = {"handle": handle} if handle is not None else {"device_id": device or 0}
        properties = cls.__new__(cls)
        properties.filled = {}
        try:
            properties.descriptor = BackendDescriptor("deviceprop", **chosen).finalize()
        except NotInitializedError as error:
            raise NoDeviceError(
                "there is no NVIDIA GPU here whose properties could be read; take a preset "
                f"({', '.join(presets())}) or a file that was written where the GPU is; "
                "`python -m cudnn_ctypes doctor` says what is missing"
            ) from error
        properties._values = json.loads(properties.descriptor.get("json_representation"))
        # Those of the reference device say what they are.
        properties.source = str(properties._values.pop(SOURCE, "measured"))
        return properties

    @classmethod
    def preset(cls, name: str) -> DeviceProperties:
        """Properties of a well-known GPU; `presets` lists the names, in any case and spacing.

        The H200's were read from one; the others' are put together from public data
        (`source`), so heuristics may propose configs in another order than on the GPU.

        Raises
        ------
        ValueError
            If there is none of this name.
        """
        return cls(preset(name))

    def replace(self, **values: Any) -> DeviceProperties:
        """The same with other values, by cuDNN's names: ``replace(multiProcessorCount=66)``.

        Raises
        ------
        ValueError
            If there is no property of such a name, or a value is negative.
        """
        for key in values:
            if key not in self._values:
                raise ValueError(f"no property {key!r}{suggestion(key, self._values)}")
        return DeviceProperties({**self._values, **values})

    @property
    def name(self) -> str:
        """The GPU's name."""
        return str(self._values.get("deviceName", "GPU"))

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Major and minor: (9, 0) for an H200."""
        return compute_capability(self._values)

    @property
    def is_native(self) -> bool:
        """Whether the loaded cuDNN has kernels made for this GPU; ``cudnnGetMaxDeviceVersion``.

        On newer GPUs it is in its mode of hardware forward compatibility: the driver compiles
        the PTX that it has, and fewer engines support the graph.
        """
        return int(self._values.get("deviceVer", 0)) <= int(raw.cudnnGetMaxDeviceVersion())

    def __getitem__(self, key: str) -> Any:
        """One property by cuDNN's name: ``properties["multiProcessorCount"]``."""
        return self._values[key]

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def to_json(self, path: str | Path | None = None) -> str:
        """The properties as JSON text with their `source`; written to a file too, if one is given.

        The text, and the file, can be given wherever a GPU is wanted.

        Parameters
        ----------
        path : Path or str, optional
            The file that is written.
        """
        text = json.dumps(self._all, separators=(",", ":"))
        if path is not None:
            Path(path).write_text(text + "\n")
        return text

    @property
    def _all(self) -> dict[str, Any]:
        """The properties, and how they are known unless they were merely given."""
        return self._values | ({} if self.source == "given" else {SOURCE: self.source})

    def __copy__(self) -> DeviceProperties:
        """Another descriptor of the same properties."""
        return DeviceProperties(self._all)

    def __deepcopy__(self, memo: object) -> DeviceProperties:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return DeviceProperties, (self.to_json(),)

    def close(self) -> None:
        """Destroy its descriptor. A second call does nothing."""
        self.descriptor.close()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceProperties):
            return NotImplemented
        return self._values == other._values

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __repr__(self) -> str:
        major, minor = self.compute_capability
        filled = ", ".join(f"{key}={value}" for key, value in self.filled.items())
        said = f", from {self.source}" if self.source == "public data" else ""
        said += f", filled in: {filled}" if filled else ""
        said += "" if self.is_native else ", newer than this cuDNN"
        return f"DeviceProperties({self.name}, compute capability {major}.{minor}{said})"


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

"""The properties of a GPU by which cuDNN chooses and compiles engines, from it or without it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ... import raw
from ...absent_gpu.properties import complete, is_measured, preset, presets
from ...arguments import suggestion
from ...errors import NoDeviceError, NotInitializedError
from ...raw.values import described
from .descriptor import BackendDescriptor

__all__ = ["DeviceProperties", "device_attribute", "presets"]


class DeviceProperties:
    """A finalized DEVICEPROP descriptor.

    Parameters
    ----------
    properties : str, bytes, mapping or os.PathLike
        The JSON text that cuDNN wrote for a GPU (`to_json`), what it holds, or a file of it. See
        also `from_device` and `preset`.

    Attributes
    ----------
    descriptor : BackendDescriptor
        For attributes such as ``engineheur.deviceprop``; they take this object too.
    filled : dict
        Keys that the loaded cuDNN wants and the JSON lacked, with the values that were put in.
    source : str
        "measured": read from the GPU by cuDNN; "public data": a preset that was put together from
        data sheets; "given".

    Raises
    ------
    ValueError
        If the text is no JSON object, or lacks a key whose value is not known.
    CudnnError
        If cuDNN refuses it.

    Notes
    -----
    Where there is no GPU, kernels that cuDNN compiles for such properties stay in its memory until
    the process ends, and the same graph is compiled anew each time: 0.2 MB for a float16 product of
    2 x 64 x 64, 1.5 MB for a float32 sum of 2 x 8 x 64 x 64 (cuDNN 9.28; the same calls from C lose
    as much, in cuDNN's own cache of kernels). With its GPU nothing is lost.
    """

    source = "given"

    def __init__(self, properties: str | bytes | Mapping[str, Any] | PathLike[str]) -> None:
        values = _loaded(properties)
        if "deviceName" not in values:
            raise ValueError(
                "these are no device properties that cuDNN wrote: they have no 'deviceName'"
            )
        self.filled = complete(values)
        try:
            text = json.dumps(values, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise TypeError(f"properties: {error}") from None
        self.descriptor = BackendDescriptor("deviceprop", json_representation=text)
        self.descriptor.finalize()
        self._values = values

    @classmethod
    def from_device(cls, device: int | None = None, *, handle: Any = None) -> DeviceProperties:
        """Those of a GPU of this machine.

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
        made = cls.__new__(cls)
        made.filled, made.source = {}, "measured"
        try:
            made.descriptor = BackendDescriptor("deviceprop", **chosen).finalize()
        except NotInitializedError as error:
            raise NoDeviceError(
                "there is no NVIDIA GPU here whose properties could be read; take a preset "
                f"({', '.join(presets())}) or a file that was written where the GPU is. {error}"
            ) from error
        made._values = json.loads(made.descriptor.get("json_representation"))
        return made

    @classmethod
    def preset(cls, name: str) -> DeviceProperties:
        """Those of a well-known GPU; `presets` lists them.

        The H200's were read from one; those of the others are put together from public data
        (`source`), so the order of what heuristics propose may differ from that on the GPU.

        Raises
        ------
        ValueError
            If there is none of this name.
        """
        if not isinstance(name, str):
            raise TypeError(f"preset: expected the name of a GPU, got {described(name)}")
        known = presets()
        if name.lower() not in known:
            raise ValueError(
                f"no preset for {name!r}{suggestion(name.lower(), known)}; there are "
                f"{', '.join(known)}. On a machine with that GPU, "
                "DeviceProperties.from_device().to_json() gives what this class takes"
            )
        made = cls(preset(name.lower()))
        made.source = "measured" if is_measured(name.lower()) else "public data"
        return made

    def replace(self, **values: Any) -> DeviceProperties:
        """The same with other values, by cuDNN's names: ``replace(multiProcessorCount=66)``.

        Raises
        ------
        ValueError
            If there is no property of such a name.
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
        version = int(self._values.get("deviceVer", 0))
        return version // 100, version % 100 // 10

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
        """The properties as JSON text; written to a file too, if one is given."""
        text = json.dumps(self._values, separators=(",", ":"))
        if path is not None:
            Path(path).write_text(text + "\n")
        return text

    def __copy__(self) -> DeviceProperties:
        """Another descriptor of the same properties."""
        return DeviceProperties(self._values)

    def __deepcopy__(self, memo: object) -> DeviceProperties:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return DeviceProperties, (self.to_json(),)

    def close(self) -> None:
        self.descriptor.close()

    def __enter__(self) -> DeviceProperties:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceProperties):
            return NotImplemented
        return self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        major, minor = self.compute_capability
        filled = ", ".join(f"{key}={value}" for key, value in self.filled.items())
        said = f", from {self.source}" if self.source == "public data" else ""
        said += f", filled in: {filled}" if filled else ""
        said += "" if self.is_native else ", newer than this cuDNN"
        return f"DeviceProperties({self.name}, compute capability {major}.{minor}{said})"


def _loaded(properties: str | bytes | Mapping[str, Any] | PathLike[str]) -> dict[str, Any]:
    if isinstance(properties, Mapping):
        return dict(properties)
    source = "the device properties"
    if isinstance(properties, PathLike):
        source = str(properties)
        properties = Path(properties).read_bytes()
    if not isinstance(properties, (str, bytes)):
        raise TypeError(
            f"properties: expected JSON text, a mapping or a path, got {type(properties).__name__}"
        )
    try:
        values = json.loads(properties)
    except (ValueError, RecursionError) as error:
        is_name = str(properties)[:1] != "{" and str(properties).endswith(".json")
        advice = "; for a file give a pathlib.Path" if is_name else ""
        raise ValueError(f"{source}: this is no JSON: {error}{advice}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{source}: expected a JSON object, got a {type(values).__name__}")
    return values


def device_attribute(device: Any) -> dict[str, Any]:
    """The attribute by which a descriptor learns of the GPU: "deviceprop" or "handle".

    Raises
    ------
    TypeError
        If `device` is neither DeviceProperties nor a Handle.
    """
    if isinstance(device, DeviceProperties):
        return {"deviceprop": device}
    if isinstance(getattr(device, "_as_parameter_", None), raw.cudnnHandle_t):
        return {"handle": device}
    raise TypeError(f"device: expected a Handle or DeviceProperties, got {described(device)}")

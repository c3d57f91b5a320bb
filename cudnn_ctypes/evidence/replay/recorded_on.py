"""The environment of a recording: versions, the GPU, and the folders of headers and libraries."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ...raw import headers, library, mode

__all__ = ["RecordedOn"]


@dataclass(frozen=True)
class RecordedOn:
    """The facts of the environment, as text."""

    version: str
    cudnn: str
    device: str
    cuda_home: str
    cudnn_include: str
    cudnn_lib: str

    @classmethod
    def now(cls) -> RecordedOn:
        """The facts of this process."""
        from ... import __version__

        loaded = library.load()
        include = headers.include_folder()
        return cls(
            __version__,
            loaded.version_text,
            _device(),
            os.environ.get("CUDA_HOME", "/usr/local/cuda"),
            "/usr/include" if include is None else str(include),
            str(Path(loaded.path).parent),
        )

    def as_dict(self) -> dict[str, str]:
        """The facts by name."""
        return asdict(self)


def _device() -> str:
    if mode.reference_device_active:
        return "the reference device"
    with suppress(Exception):  # a trace never stops a program
        from ...runtime.device import current_device

        device = current_device()
        return f"an {device.name}" if device.name[0] in "AEIOU" else str(device.name)
    return "an unknown device"

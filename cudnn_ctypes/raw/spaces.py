"""Which memory the active device reads, as objects of other libraries tell of it.

The part of a runtime that layer 1 knows: ``cudnn_ctypes.runtime`` adds what carries work out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from .dlpack import ON_CUDA, ON_HOST

if TYPE_CHECKING:
    from .records import Call


class GpuSpace:
    """Memory of GPUs.

    - `name`: whose memory it is, for messages.
    - `on_host`: whether it is host memory.
    - `bare_calls`: whether launches may call C without a look at who carries them out.
    - `dlpack_devices`: DLPack's device types that are here.
    - `dlpack_stream`: what DLPack is told to order nothing.
    """

    name: str = "a GPU"
    on_host: bool = False
    bare_calls: bool = True
    dlpack_devices: tuple[int, ...] = ON_CUDA
    dlpack_stream: int | None = -1

    def has(self, tensor: Any) -> bool:
        """Whether a tensor of PyTorch, or an object like one, is in this memory."""
        return bool(tensor.is_cuda)

    def has_likeness(self, value: Any) -> bool:
        """Whether an object of another class says, as PyTorch's do, that it is on a GPU."""
        return bool(getattr(value, "is_cuda", False))

    def cuda_array_interface(self, value: Any) -> Any:
        """``__cuda_array_interface__`` of an object in this memory; None without one."""
        return getattr(value, "__cuda_array_interface__", None)

    def refused(self, value: object, name: object, place: str) -> TypeError:
        """The error for memory at another `place`, in an argument `name`, or ""."""
        return host_memory(value, name, f" on {place}")

    def where(self, ordinal: int) -> int:
        """The number of a device in the keys of launches."""
        return ordinal

    def check_memory(self, ordinal: int, operands: Iterable[tuple[object, Any]]) -> None:
        """Refuse memory to which the current GPU has no access: see ``gpus.check_memory_on``."""
        from . import gpus

        gpus.check_memory_on(ordinal, operands)

    def may_live(self, address: int, known: Collection[int]) -> bool:
        """Whether a backend descriptor may be at an address, or one of a library beside this."""
        return True

    def faults(self, call: Call) -> Iterable[Any]:
        """The known faults of a C call (`faults.Finding`), of the loaded cuDNN on these devices."""
        from . import library
        from .faults.calls import faults_of_call

        return faults_of_call(call, library.load().version)

    def handle_created(self, argument: Any) -> None:
        """Note a handle that ``cudnnCreate`` made: its calls run on the GPU that is current."""
        from . import gpus

        gpus.created(argument)


class HostSpace(GpuSpace):
    """Host memory, on which the reference device works."""

    name = "the reference device"
    on_host = True
    bare_calls = False
    dlpack_devices = ON_HOST
    dlpack_stream = None

    def has(self, tensor: Any) -> bool:
        return bool(getattr(tensor, "is_cpu", False))

    def has_likeness(self, value: Any) -> bool:
        return False

    def cuda_array_interface(self, value: Any) -> None:
        return None

    def refused(self, value: object, name: object, place: str) -> TypeError:
        return TypeError(
            f"{_prefix(name)}{type_name(value)} on {place}, but the reference device is active, "
            f"whose memory is host memory"
        )

    def where(self, ordinal: int) -> int:
        return -1

    def check_memory(self, ordinal: int, operands: Iterable[tuple[object, Any]]) -> None:
        pass

    def may_live(self, address: int, known: Collection[int]) -> bool:
        return address in known

    def faults(self, call: Call) -> Iterable[Any]:
        return ()

    def handle_created(self, argument: Any) -> None:
        pass


def host_memory(value: object, name: object, place: str = "") -> TypeError:
    """The error for host memory in place of device memory, in an argument of this name."""
    copied = "DeviceTensor.from_numpy" + (f"({name})" if name else "")
    return TypeError(
        f"{_prefix(name)}host memory ({type_name(value)}{place}) where device memory is wanted; "
        f"copy it with {copied}"
    )


def _prefix(name: object) -> str:
    return f"{name}: " if name else ""


def type_name(value: object) -> str:
    """The class of an object, with its module unless it is Python's own."""
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"

"""Names for what calls are about: objects by kind and number, memory by allocation and offset."""

from __future__ import annotations

from typing import Any

from ..device import cuda
from ..raw import backend, host_blocks, mode
from ..raw.attributes import kind_name
from ..raw.typed_memory import is_torch

__all__ = ["Objects", "Places", "extent"]


class Objects:
    """Handles and descriptors: "handle", "tensor1", "execution_plan2", by their addresses."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, kind: type, address: int | None, *, new: bool = False) -> str | None:
        """The name of the object at an address; `new` for one that was created just now."""
        if not address:
            return None
        word = _word(kind, address)
        # A backend descriptor that C filled with others keeps the name that it was created with.
        key = (kind.__name__, address)
        if new or key not in self._names:
            count = self._counts[word] = self._counts.get(word, 0) + 1
            self._names[key] = word if word == "handle" and count == 1 else f"{word}{count}"
        return self._names[key]

    def forget(self, kind: type, address: int | None) -> None:
        """The object was destroyed: another may get its address."""
        self._names.pop((kind.__name__, address or 0), None)


def _word(kind: type, address: int) -> str:
    known = backend.known(address) if kind.__name__ == "cudnnBackendDescriptor_t" else None
    if known is not None and known.kind is not None:
        return kind_name(known.kind)
    word = kind.__name__.removeprefix("cudnn").removeprefix("cuda").removesuffix("_t")
    return word.removesuffix("Descriptor").lower() or "descriptor"


class Places:
    """Memory: the allocation that an address lies in, and how far from its start."""

    def __init__(self) -> None:
        self._names: dict[Any, tuple[str, Any]] = {}
        self._counts: dict[str, int] = {}

    def place(self, address: int, given: Any, name: str) -> tuple[str, int]:
        """The allocation's name and the offset in bytes.

        Parameters
        ----------
        address : int
        given : object
            What the program passed.
        name : str
            The parameter's, by which a new allocation is called.
        """
        key, base, _ = _allocation(address, given)
        if key not in self._names:
            count = self._counts[name] = self._counts.get(name, 0) + 1
            # A block of the reference device is kept, so that no other one has its identity.
            self._names[key] = (name if count == 1 else f"{name}{count}", key)
        return self._names[key][0], address - base


def extent(address: int, given: Any) -> tuple[int, int | None]:
    """The first address of the allocation, and its bytes; None if nobody knows how many."""
    _, base, nbytes = _allocation(address, given)
    return base, nbytes


def _allocation(address: int, given: Any) -> tuple[Any, int, int | None]:
    """What tells the allocation from others, its first address, and its size."""
    if is_torch(type(given)):
        storage = given.untyped_storage()
        return (storage.data_ptr(), storage.nbytes()), storage.data_ptr(), storage.nbytes()
    if mode.reference_device_active:
        block = host_blocks.find(address)
        return (address, address, None) if block is None else (block, block.address, block.nbytes)
    try:
        base, size = cuda.call("cuMemGetAddressRange", address)
    except Exception:  # no address of this GPU, or no driver
        return (address, address, None)
    return (int(base), int(size)), int(base), int(size)

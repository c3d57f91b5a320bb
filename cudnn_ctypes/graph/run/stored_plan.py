"""Kernel caches, and checks of the JSON in which cuDNN stores them and plans, before it reads it.

cuDNN refuses most of what is damaged, but not all: tensor names that are no numbers, references to
tensors that are not there, or dimensions of zero end the process, and so can a flipped bit in the
machine code, in the driver. So a checksum is added, which cuDNN reads past. Nor does cuDNN compare
the GPU.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import raw
from ...arguments import Place
from ...errors import CudnnError, SymbolNotFoundError
from ...raw.library import version_text
from ...resource import Closing, Uncopied
from ..backend.descriptor import BackendDescriptor
from ..backend.device_properties import DeviceProperties

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.node import Node


_SEAL = re.compile(r',"sha256":"([0-9a-f]{64})"\}\s*\Z')

_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)
_OF_A_GPU = ("deviceName", "deviceVer")
_COUNTS = ("multiProcessorCount", "smCountOrigin")  # the latter if fewer than all are used


def sealed(text: str) -> str:
    """cuDNN's JSON with a checksum of itself as its last member."""
    body = text.rstrip()
    return f'{body.removesuffix("}")},"sha256":"{_digest(body)}"}}'


def unsealed(text: str, what: str) -> str:
    """The text that was given to `sealed`, up to white space at its end.

    Raises ValueError if the checksum is missing or does not fit; `what` is the name for it in the
    message.
    """
    seal = _SEAL.search(text)
    body = "" if seal is None else text[: seal.start()] + "}"
    if seal is None or _digest(body) != seal[1]:
        raise ValueError(
            f"this {what} was damaged or changed after it was written: its sha256 does not fit"
        )
    return body


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class StoredPlan:
    """The JSON text of a plan or of a kernel cache, as far as it can be checked here.

    What is damaged, or was made by another version of cuDNN, is refused. Text without a checksum,
    which a program in C wrote, can have damage that is not seen.

    - `text`: text of cuDNN's, without the checksum.
    - `sealed`: whether it had one.
    """

    def __init__(self, text: str | bytes, what: str = "execution plan") -> None:
        self.top: Place = Place.of_text(text, what.split()[-1])
        missing = {"cudnnVersion", "operationGraph"} - set(self.top.keys())
        if missing:
            raise ValueError(
                f"this JSON is no {what}: it has no {' and no '.join(sorted(map(repr, missing)))}"
            )
        self._check_version(what)
        _check_graph(self.top["operationGraph"])
        self.text: str = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
        self.sealed: bool = "sha256" in self.top
        if self.sealed:
            self.text = unsealed(self.text, what)

    def _check_version(self, what: str) -> None:
        loaded, made_by = raw.load().version, self.top["cudnnVersion"].value
        if made_by != loaded:
            is_number = isinstance(made_by, int) and not isinstance(made_by, bool)
            shown = version_text(made_by) if is_number and made_by > 0 else repr(made_by)
            raise ValueError(
                f"this {what} was made by cuDNN {shown}, loaded is {version_text(loaded)}: it "
                "belongs to one version; build it again"
            )

    def check_gpu(self, device: Handle | DeviceProperties) -> None:
        """Refuse a plan for another GPU than `device`."""
        if "GPUProfile" not in self.top:
            return
        profile = self.top["GPUProfile"]
        profile.keys()
        here = _properties_of(device)
        for key in _OF_A_GPU:
            if key in profile and here is not None and profile[key].value != here.get(key):
                self._refuse_gpu(key, profile[key].value, here.get(key))
        counts = [profile[key].value for key in _COUNTS if key in profile]
        if here is not None and counts and here.get(_COUNTS[0]) not in counts:
            self._refuse_gpu(_COUNTS[0], max(counts, key=str), here.get(_COUNTS[0]))

    def _refuse_gpu(self, key: str, made_for: Any, here: Any) -> None:
        raise ValueError(
            f"this plan was made for a GPU with {key} {made_for!r}, and this one has {here!r}: "
            "build it again"
        )

    @property
    def uids(self) -> frozenset[int]:
        """The unique ids of the tensors with memory, or passed by value."""
        tensors = self.top["operationGraph"]["tensors"].items()
        return frozenset(
            int(each["name"].text()) for each in tensors if each.value.get("isVirtual") is not True
        )

    @property
    def takes_shapes(self) -> bool:
        """Whether an execution may give other shapes."""
        return bool(self.top["operationGraph"].value.get("isOverrideShapeEnabled"))

    def check_graph(
        self, nodes: Sequence[Node], dims: Mapping[int | None, Sequence[int] | None]
    ) -> None:
        """Refuse the plan of another graph than the validated one of `nodes`.

        `dims` are those that cuDNN sees, by unique id.
        """
        graph = self.top["operationGraph"]
        here = sorted(map(_wiring, nodes))
        stored = sorted(map(_stored_wiring, graph["nodes"].items()))
        if here != stored:
            raise ValueError(
                f"this plan is of another graph: its operations are "
                f"{_listed(stored)}; this one's are {_listed(here)}"
            )
        for each in graph["tensors"].items():
            uid, theirs = int(each["name"].text()), each["dim"].value
            own = dims.get(uid)
            # The last two dimensions can be exchanged in one of them.
            if own is None or sorted(own) != sorted(theirs):
                shown = "no such tensor" if own is None else str(tuple(own))
                raise ValueError(
                    f"this plan is of another graph: its tensor with uid {uid} is "
                    f"{tuple(theirs)}, this one has {shown}"
                )


Wiring = tuple[str, list[int]]  # the operation, and the uids of its tensors


def _wiring(node: Node) -> Wiring:
    tensors = (*node.operands, *node.outputs.values())
    operation = f"CUDNN_BACKEND_{node.kind.descriptor}_DESCRIPTOR".upper()
    return operation, sorted(tensor.uid or 0 for tensor in tensors)


def _stored_wiring(node: Place) -> Wiring:
    texts = (text.value for text in _texts(node))
    uids = sorted(int(text) for text in texts if not text.startswith("CUDNN_"))
    return str(node.value.get("operation")), uids


def _listed(wirings: Sequence[Wiring]) -> str:
    return ", ".join(f"{operation} {uids}" for operation, uids in wirings)


def _properties_of(device: Any) -> dict[str, Any] | None:
    """None if this cuDNN cannot tell those of a handle."""
    if isinstance(device, DeviceProperties):
        return {key: device[key] for key in (*_OF_A_GPU, _COUNTS[0]) if key in device}
    try:
        with DeviceProperties.from_device(handle=device) as here:
            return _properties_of(here)
    except (CudnnError, SymbolNotFoundError):
        return None


def _check_graph(graph: Place) -> None:
    names: set[str] = set()
    for tensor in graph["tensors"].items():
        name = tensor["name"].text()
        if not _INTEGER.fullmatch(name) or not -(1 << 63) <= int(name) < 1 << 63:
            tensor["name"].refuse(f"expected a number of 64 bits as text, got {name!r}")
        names.add(name)
        dims = [size.integer(1) for size in tensor["dim"].items()]
        strides = [step.integer() for step in tensor["stride"].items()]
        if len(dims) != len(strides):
            tensor["stride"].refuse(f"expected as many as dims {dims}, got {strides}")
    for node in graph["nodes"].items():
        node.keys()
        for text in _texts(node):
            if text.value not in names and not text.value.startswith("CUDNN_"):
                text.refuse(f"there is no tensor {text.value!r}")


def _texts(place: Place) -> Iterator[Place]:
    """All strings inside."""
    if isinstance(place.value, dict):
        for key in place.keys():  # noqa: SIM118
            yield from _texts(place[key])
    elif isinstance(place.value, list):
        for each in place.items():
            yield from _texts(each)
    elif isinstance(place.value, str):
        yield place


class KernelCache(Closing, Uncopied):
    """Compiled kernels of one graph for any dims; the KERNEL_CACHE descriptor.

    Graphs that are built with it have dynamic shapes: the kernel that was compiled for one of them
    serves all that differ in dims and strides only. Only some engines for runtime fusion can do
    that. It lives until it is closed; plans keep the kernels that they use.

    Parameters
    ----------
    text : str or bytes, optional
        What `to_json` stored; cuDNN 9.10.

    Raises
    ------
    ValueError
        If the text is damaged, or was made by another version of cuDNN.
    SymbolNotFoundError
        Before cuDNN 9.4.

    Examples
    --------
    >>> cache = KernelCache()
    >>> for batch in (1, 2, 3):
    ...     graph = describe(batch)  # doctest: +SKIP
    ...     plan = graph.build(handle, kernel_cache=cache)  # doctest: +SKIP
    """

    def __init__(self, text: str | bytes | None = None) -> None:
        self._descriptor: BackendDescriptor | None = None
        if text is None:
            return
        stored = StoredPlan(text, "kernel cache").text
        try:
            self._descriptor = BackendDescriptor(
                "kernel_cache", json_representation=stored
            ).finalize()
        except CudnnError as error:
            raise ValueError(
                f"cuDNN does not take this kernel cache; it is damaged: {error}"
            ) from error

    def begin(self, operation_graph: BackendDescriptor) -> BackendDescriptor:
        """The descriptor, made for `operation_graph` if it is the first one.

        Building a graph calls this. Here for those who build with descriptors.
        """
        if self._descriptor is None:
            self._descriptor = BackendDescriptor(
                "kernel_cache", operation_graph=operation_graph
            ).finalize()
        return self._descriptor

    @property
    def descriptor(self) -> BackendDescriptor:
        """For ``execution_plan.kernel_cache``.

        Raises
        ------
        ValueError
            Before the first graph was built with it.
        """
        if self._descriptor is None:
            raise ValueError("this kernel cache is empty: no graph was built with it yet")
        return self._descriptor

    @property
    def entry_count(self) -> int:
        """How many kernels it holds; cuDNN 9.27."""
        return 0 if self._descriptor is None else int(self._descriptor.get("entry_count"))

    @property
    def revision(self) -> int:
        """A number that grows with each change; cuDNN 9.27."""
        return 0 if self._descriptor is None else int(self._descriptor.get("revision"))

    def to_json(self) -> str:
        """The kernels as text, for the same cuDNN version and GPU; cuDNN 9.10."""
        return sealed(str(self.descriptor.get("json_representation")))

    def close(self) -> None:
        """Destroy its descriptor. A second call does nothing."""
        if self._descriptor is not None:
            self._descriptor.close()

    def __repr__(self) -> str:
        if self._descriptor is None:
            return "KernelCache(empty)"
        return "KernelCache(closed)" if self._descriptor.closed else "KernelCache()"

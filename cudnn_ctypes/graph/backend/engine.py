"""Engines: cuDNN's ways of carrying out an operation graph, with knobs, configs and heuristics."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from ... import raw
from ...arguments import enumerator, expect, integer, suggestion
from ...errors import CudnnError, NotSupportedError, SymbolNotFoundError
from ...raw.ctypes_support import short_name
from ...raw.values import described
from ...resource import Closing, Uncopied
from .descriptor import BackendDescriptor
from .device_properties import DeviceLike, device_attribute


@dataclass(frozen=True)
class EngineChoice:
    """An engine and values of its knobs as plain data; ``Graph.build(config=...)`` takes it.

    Attributes
    ----------
    engine : int
        Its index, for graphs of this pattern and this cuDNN version.
    knobs : mapping of str to int
        By short name; cuDNN chooses those that are missing.

    Raises
    ------
    TypeError
        If these are of other types.

    Examples
    --------
    >>> choice = EngineChoice(22, {"tile_size": 8})
    >>> choice.engine, choice.knobs["tile_size"]
    (22, 8)
    """

    engine: int
    knobs: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.engine, bool) or not isinstance(self.engine, int):
            raise TypeError(f"engine: expected its index, got {described(self.engine)}")
        if not isinstance(self.knobs, Mapping):
            raise TypeError(f"knobs: expected values by name, got {described(self.knobs)}")

    def __hash__(self) -> int:
        return hash((self.engine, frozenset(self.knobs.items())))

    def __str__(self) -> str:
        knobs = " ".join(f"{name}={value}" for name, value in self.knobs.items())
        return f"engine {self.engine}{': ' if knobs else ''}{knobs}"


@dataclass(frozen=True)
class Knob:
    """The settings of one knob of an engine: minimum, minimum + stride, … maximum."""

    minimum: int
    maximum: int
    stride: int

    @property
    def values(self) -> range:
        return range(self.minimum, self.maximum + 1, max(self.stride, 1))

    def __str__(self) -> str:
        steps = f" by {self.stride}" if self.stride > 1 else ""
        several = self.maximum > self.minimum
        return f"{self.minimum}-{self.maximum}{steps}" if several else str(self.minimum)


class Engine(Closing, Uncopied):
    """One engine for one operation graph; the ENGINE descriptor.

    For an example see `heuristics`.

    Parameters
    ----------
    operation_graph : BackendDescriptor
        Finalized.
    index : int
        Below ``engine_count(operation_graph)``, or ValueError is raised.
    device : Handle, DeviceProperties, str or os.PathLike
        The GPU. A handle must be that of the operation graph too.
    sm_count : int, optional
        How many multiprocessors it should use.

    Raises
    ------
    NotSupportedError
        If this engine cannot carry out this graph; the message has cuDNN's reason.
    """

    def __init__(
        self,
        operation_graph: BackendDescriptor,
        index: int,
        *,
        device: DeviceLike,
        sm_count: int | None = None,
    ) -> None:
        count = engine_count(operation_graph)
        if not 0 <= integer("index", index) < count:
            raise ValueError(f"engine {index}: this graph has engines 0 to {count - 1}")
        self._owned: ExitStack | None = None
        self.descriptor: BackendDescriptor = BackendDescriptor(
            "engine",
            operation_graph=operation_graph,
            global_index=index,
            sm_count_target=sm_count,
            **engine_attributes(device, operation_graph),
        ).finalize()

    @classmethod
    def _of(cls, descriptor: BackendDescriptor) -> Engine:
        engine = cls.__new__(cls)
        engine.descriptor = descriptor
        engine._owned = None
        return engine

    def closes_with_it(self, owned: ExitStack) -> None:
        """Have `close` close `owned` too: what the engine was made for."""
        self._owned = owned

    @property
    def index(self) -> int:
        return int(self.descriptor.get("global_index"))

    @property
    def knobs(self) -> dict[str, Knob]:
        """Its knobs by short name: "tile_size", "split_k_slc"."""
        found: dict[str, Knob] = {}
        for info in self.descriptor.get("knob_info") or ():
            with info:
                found[short_name(info.get("type"))] = Knob(
                    info.get("minimum_value"), info.get("maximum_value"), info.get("stride")
                )
        return found

    @property
    def numerical_notes(self) -> frozenset[str]:
        """Notes on its numbers: "tensor_core", "nondeterministic", "winograd"."""
        return frozenset(map(short_name, self.descriptor.get("numerical_note") or ()))

    @property
    def behavior_notes(self) -> frozenset[str]:
        """Notes on its behavior: "runtime_compilation", "supports_cuda_graph_native_api"."""
        return frozenset(map(short_name, self.descriptor.get("behavior_note") or ()))

    def config(self, knobs: Mapping[str, int] | None = None) -> EngineConfig:
        """This engine with some knobs chosen; cuDNN chooses the others, and those that are -1.

        Raises
        ------
        ValueError
            If it has no such knob, or the knob no such value.
        """
        ranges = self.knobs if knobs else {}
        choices: list[BackendDescriptor] = []
        for name, value in (knobs or {}).items():
            if name not in ranges:
                raise ValueError(
                    f"engine {self.index} has no knob {name!r}{suggestion(name, ranges)}; "
                    f"it has {', '.join(ranges) or 'none'}"
                )
            if value != -1 and value not in ranges[name].values:
                knob = ranges[name]
                raise ValueError(
                    f"knob {name!r} of engine {self.index}: {value!r} is not in {knob.minimum} to "
                    f"{knob.maximum} by steps of {knob.stride}"
                )
        try:
            for name, value in (knobs or {}).items():
                kind = enumerator(raw.cudnnBackendKnobType_t, name, "knob")
                choice = BackendDescriptor("knob_choice", knob_type=kind, knob_value=value)
                choices.append(choice.finalize())
            descriptor = BackendDescriptor(
                "enginecfg", engine=self.descriptor, knob_choices=choices or None
            )
            return EngineConfig(descriptor.finalize(), choices)
        except BaseException:
            for choice in choices:
                choice.close()
            raise

    def close(self) -> None:
        """Destroy its descriptor. A second call does nothing."""
        self.descriptor.close()
        if self._owned is not None:
            self._owned.close()

    def __repr__(self) -> str:
        if self.descriptor.closed:
            return "Engine(closed)"
        notes = ", ".join(sorted(self.numerical_notes | self.behavior_notes))
        return f"Engine({self.index}{', ' if notes else ''}{notes})"


class EngineConfig(Closing, Uncopied):
    """An engine and the values of its knobs: what a plan is made of; the ENGINECFG descriptor.

    `heuristics` and ``Engine.config`` make it.

    For an example see `heuristics`.
    """

    def __init__(
        self, descriptor: BackendDescriptor, owned: list[BackendDescriptor] | None = None
    ) -> None:
        self.descriptor = descriptor
        self._owned = [] if owned is None else owned

    @property
    def engine(self) -> Engine:
        """It belongs to this config and is closed with it."""
        return Engine._of(self.descriptor.get("engine"))

    @property
    def knobs(self) -> dict[str, int]:
        """The chosen values by the knobs' short names."""
        choices = self.descriptor.get("knob_choices") or ()
        return {short_name(c.get("knob_type")): c.get("knob_value") for c in choices}

    @property
    def choice(self) -> EngineChoice:
        """The same as plain data, which outlives the descriptors."""
        return EngineChoice(self.engine.index, self.knobs)

    @property
    def workspace_size(self) -> int | None:
        """Bytes of workspace of its plan, known before that is compiled; None before cuDNN 9.2."""
        return self._told("workspace_size")

    @property
    def shared_memory(self) -> int | None:
        """Bytes of shared memory of a block of threads; None of engines that do not tell."""
        return self._told("shared_memory_used")

    def _told(self, name: str) -> int | None:
        try:
            return int(self.descriptor.get(name))
        except (NotSupportedError, SymbolNotFoundError):
            return None

    @property
    def numerical_notes(self) -> frozenset[str]:
        return self.engine.numerical_notes

    @property
    def behavior_notes(self) -> frozenset[str]:
        return self.engine.behavior_notes

    def close(self) -> None:
        """Destroy its descriptor. A second call does nothing."""
        self.descriptor.close()
        while self._owned:
            self._owned.pop().close()

    def __repr__(self) -> str:
        if self.descriptor.closed:
            return "EngineConfig(closed)"
        knobs = ", ".join(f"{name}={value}" for name, value in self.knobs.items())
        return f"EngineConfig(engine {self.engine.index}{': ' if knobs else ''}{knobs})"


def engine_count(operation_graph: BackendDescriptor) -> int:
    """How many engines there are for operation graphs of this pattern, usable or not."""
    expect("operation_graph", operation_graph, BackendDescriptor)
    return int(operation_graph.get("engine_global_count"))


def engine_attributes(device: Any, operation_graph: BackendDescriptor) -> dict[str, Any]:
    """The attribute by which an engine or a query learns of the GPU."""
    expect("operation_graph", operation_graph, BackendDescriptor)
    found = device_attribute(device)
    if "handle" not in found:
        return found
    if "handle" not in operation_graph.held():
        raise ValueError("device: the operation graph has no handle: set it, or give properties")
    return {}


def default_configs(engine: Engine) -> list[EngineConfig]:
    """Configs of an engine that leave to cuDNN what can be left to it; each to be closed.

    Mostly this is one. Some engines want the knob kernel_cfg to be set; then it is one for each
    of its values that they accept.

    Raises CudnnError if there is none; with several refusals the most frequent.
    """
    refusals: list[CudnnError] = []
    try:
        return [engine.config()]
    except CudnnError as error:
        unset = any("KERNEL_CFG knob must be set" in message for message in error.messages)
        kernels = engine.knobs.get("kernel_cfg") if unset else None
        if kernels is None:
            raise
    found = []
    for value in kernels.values:
        try:
            found.append(engine.config({"kernel_cfg": value}))
        except CudnnError as error:
            refusals.append(error)
    if found:
        return found
    first_lines = [error.messages[:1] for error in refusals]
    raise max(refusals, key=lambda error: first_lines.count(error.messages[:1]))


def heuristics(
    operation_graph: BackendDescriptor,
    *,
    device: DeviceLike,
    mode: str = "a",
    sm_count: int | None = None,
) -> list[EngineConfig]:
    """The engine configs that cuDNN proposes for an operation graph, the best first.

    Parameters
    ----------
    operation_graph : BackendDescriptor
        Finalized.
    device : Handle, DeviceProperties, str or os.PathLike
        The GPU. A handle must be that of the operation graph too.
    mode : {"a", "b", "fallback", "instant"}
        "a" is fast, "b" predicts better for some convolutions and takes longer, "fallback" gives
        engines that support much and are slow, "instant" is another name of "a".
    sm_count : int, optional
        How many multiprocessors they should use.

    Returns
    -------
    list of EngineConfig
        At least one; each is to be closed.

    Raises
    ------
    NotSupportedError
        If cuDNN knows no engine for this graph at all.

    Examples
    --------
    >>> like = {"dimensions": [8, 64, 32], "strides": [2048, 32, 1], "data_type": "float16"}
    >>> x, y = (BackendDescriptor("tensor", unique_id=n, byte_alignment=16, **like) for n in (1, 2))
    >>> relu = BackendDescriptor("pointwise", mode="relu_fwd", math_prec="float32").finalize()
    >>> operation = BackendDescriptor(
    ...     "operation_pointwise", pw_descriptor=relu, xdesc=x.finalize(), ydesc=y.finalize()
    ... )
    >>> graph = BackendDescriptor("operationgraph", ops=[operation.finalize()]).finalize()
    >>> configs = heuristics(graph, device="H200")
    >>> len(configs) >= 1
    True
    """
    query = BackendDescriptor(
        "engineheur",
        mode=mode,
        operation_graph=operation_graph,
        sm_count_target=sm_count,
        **engine_attributes(device, operation_graph),
    )
    with query.finalize():
        return [EngineConfig(each) for each in query.get("results")]

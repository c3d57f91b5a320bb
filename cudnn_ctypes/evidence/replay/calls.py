"""Recorded graphs and calls of the legacy API carried out again, with memory of our own.

A record of a call says what each argument was, not what the memory held. Calls that had the same
address get the same memory, so that a backward call finds the reserve space of its forward call.
"""

from __future__ import annotations

import ctypes
import inspect
import math
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import legacy, raw
from ...arguments import enumerator
from ...dtypes import as_data_type, numpy_dtype
from ...errors import CudnnError, NotSupportedError
from ...graph.engines.judging.trial import expanded
from ...graph.engines.operands import images
from ...graph.engines.selection import Selection
from ...graph.run.tensor_memory import host_value
from ...handle import Handle
from ...legacy.descriptor import Descriptor
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.function import Function
from ...raw.parameter import Parameter
from ...raw.records import record
from ...runtime import DeviceBuffer
from ..backend_calls import BACKWARD_PRODUCTS
from ..logged_calls import computes, is_output
from ..records import CallRecord, call_text, config_text

if TYPE_CHECKING:
    from ...graph.engines.tuning.measurements import Autotuning
    from ...graph.graph import Graph
    from ...graph.run.plan import ExecutionPlan


_SLOW = 1.2  # times as long as the fastest
CHANCE = "random numbers"
"""Among what is assumed: the results depend on the numbers that a device draws."""


@dataclass(frozen=True)
class Replayed:
    """A graph or call that was carried out again.

    - `name`: the graph's operations, or the call as it was recorded.
    - `status`: "SUCCESS", the status that it returned now, or "REFUSED" if it could not be made.
    - `reason`: the reason if it failed.
    - `outputs`: the memory that it wrote, flat, by parameter or by tensor.
    - `assumed`: arguments that the record lacks, for which others were taken.
    - `slow`: the engine that is faster than the one executed, with times; "" if none is or none was
      timed.
    """

    name: str
    status: str = "SUCCESS"
    reason: str = ""
    outputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    slow: str = ""

    def __str__(self) -> str:
        said = f"{self.status}: {self.name}"
        return f"{said}: {self.reason}" if self.reason else said


def replay(calls: Iterable[CallRecord], handle: Handle, *, seed: int = 0) -> list[Replayed]:
    """Make recorded calls again, in their order; others than those that compute are passed over.

    - `calls`: of cuDNN's log, or of a trace.
    - `handle`: the device on which they are made.
    - `seed`: of the random numbers in memory.
    """
    with ExitStack() as stack:
        made: list[tuple[CallRecord, _Call | None, str]] = []
        memory = _Memory(stack, seed)
        for call in calls:
            if not computes(call.function):
                continue
            try:
                prepared = _Call(call, handle, stack)
                memory.reserve(prepared)
                made.append((call, prepared, ""))
            except (CudnnError, ValueError, TypeError, KeyError, AttributeError) as error:
                made.append((call, None, f"{type(error).__name__}: {error}"))
        return [
            Replayed(call_text(call), "REFUSED", why) if one is None else one.run(memory, handle)
            for call, one, why in made
        ]


def replay_graph(
    graph: Graph,
    handle: Handle,
    *,
    name: str = "",
    seed: int = 0,
    config: str = "",
    bench: bool = False,
) -> Replayed:
    """Build and execute a recorded graph with random operands.

    - `handle`: the device on which it is executed.
    - `name`: of the result; default: the graph's.
    - `seed`: of the random numbers.
    - `config`: the engine to build it with, if it is offered, with its knobs: "22 (tile_size=4)".
      By default the first that is.
    - `bench`: whether to time all configs that heuristics propose, on a GPU.
    """
    name = name or graph.name
    try:
        with ExitStack() as stack:
            nodes = graph.validate()
            expansion = expanded(graph, handle)
            operands = images(expansion, nodes, "ordinary", {}, seed=seed)
            plan = stack.enter_context(_built(graph, handle, config))
            memory: dict[int, Any] = {}
            for tensor in (*graph.inputs, *graph.outputs):
                image = operands[tensor.uid or 0]
                if tensor.by_value:
                    ctype = type(host_value(0, tensor))
                    memory[tensor.uid or 0] = ctype.from_buffer_copy(image.tobytes())
                    continue
                buffer = stack.enter_context(DeviceBuffer(image.nbytes))
                buffer.copy_from_host(image)
                memory[tensor.uid or 0] = buffer
            size = plan.workspace_size
            workspace = stack.enter_context(DeviceBuffer(size)) if size else None
            plan.execute(handle, memory, workspace=workspace)
            operations = [each.operation for each in nodes]
            sums = operations.count("matmul") >= BACKWARD_PRODUCTS
            read = {id(each) for node in nodes for each in node.operands}
            outputs = {
                each.name: _numbers(memory[each.uid or 0].copy_to_host(), each.data_type)
                for each in graph.outputs
                if not (sums and id(each) in read)  # which engines leave in an order of their own
            }
            drawn = "rng" in operations or any("dropout" in node.options for node in nodes)
            slow = ""
            if bench:
                tuned = graph.autotune(handle, memory, cache=False, progress=False, program=False)
                slow = slower(tuned, config)
            return Replayed(name, "SUCCESS", "", outputs, (CHANCE,) if drawn else (), slow)
    except CudnnError as error:
        reason = next(iter(error.messages or [error.detail]), "")
        return Replayed(name, str(error.status).removeprefix("CUDNN_STATUS_"), reason)
    except (ValueError, TypeError, KeyError) as error:
        return Replayed(name, "REFUSED", str(error))


def _built(graph: Graph, handle: Handle, config: str) -> ExecutionPlan:
    if config:
        with suppress(NotSupportedError):
            chosen = Selection(engines={int(config.split()[0])})
            return graph.build(handle, selection=chosen, program=False)
    return graph.build(handle, program=False)


def slower(tuned: Autotuning, config: str) -> str:
    """The config that is clearly faster than the one executed, in words; "" if none is.

    - `config`: as for `replay_graph`. One that was not measured is taken for another of its engine,
      or for the one that heuristics propose first.
    """
    timed = sorted(tuned.ranking, key=lambda each: tuned.measurements.index(each))
    same = [each for each in timed if config_text(each.engine, each.knobs) == config]
    same += [each for each in timed if [str(each.engine)] == config.split()[:1]]
    executed, best = (same or timed)[0], tuned.best
    ratio = executed.median / best.median
    if ratio < _SLOW:
        return ""
    one, other = (config_text(each.engine, each.knobs) for each in (best, executed))
    return (
        f"engine {one} takes {best.median:.1f} us, {other} {executed.median:.1f}: "
        f"{ratio:.1f} times as long"
    )


def _numbers(memory: NDArray[np.uint8], data_type: Any) -> NDArray[Any]:
    """Memory as the numbers that it holds; bytes of types smaller than a byte."""
    try:
        dtype = numpy_dtype(data_type)
    except TypeError:
        return memory
    return memory[: memory.nbytes - memory.nbytes % dtype.itemsize].view(dtype)


class _Call:
    """A call with its descriptors, before its memory is allocated."""

    def __init__(self, call: CallRecord, handle: Handle, stack: ExitStack) -> None:
        self.call = call
        self.function: Function = raw.FUNCTIONS[call.function]
        self.assumed: list[str] = []
        self._recorded = {each.name: each.value for each in call.arguments}
        self.values: dict[str, Any] = {}
        self.places: dict[str, tuple[Any, int]] = {}
        for parameter in self.function.parameters:
            name, value = parameter.name, self._recorded.get(parameter.name)
            if name == "handle":
                self.values[name] = handle
            elif parameter.type.kind == "device":
                self.values[name] = None
            elif name in self._recorded:
                self.values[name] = self._value(parameter, value, handle, stack)
        for parameter in self.function.parameters:
            if parameter.name not in self.values:
                self.values[parameter.name] = self._assumed(parameter)
        self._ask_for_sizes()
        for parameter in self.function.parameters:
            place = self._recorded.get(parameter.name)
            wanted = [self.values.get(each) for each in parameter.described_by]
            if parameter.name not in self._recorded or (
                place is None and parameter.name.lower() == "workspace" and wanted != [0]
            ):
                place = {"allocation": parameter.name}
            if parameter.type.kind == "device" and isinstance(place, dict):
                key = place["allocation"], place.get("offset", 0)
                nbytes = max(self._nbytes(parameter), place.get("nbytes") or 0)
                self.places[parameter.name] = key, nbytes

    # --- arguments -----------------------------------------------------------------------------

    def _assumed(self, parameter: Parameter) -> Any:
        """The value of a parameter that the record lacks."""
        base = parameter.type.base
        self.assumed.append(parameter.name)
        if parameter.type.kind == "scalar":
            return 1.0
        if isinstance(base, type) and issubclass(base, CudnnEnum):
            return base(1)
        if parameter.type.kind == "array":
            return self._indices(parameter.name)
        return self._like(parameter) if issubclass(base, OpaquePointer) else 0

    def _value(self, parameter: Parameter, value: Any, handle: Handle, stack: ExitStack) -> Any:
        base = parameter.type.base
        if isinstance(value, dict):
            if "holds" in value:
                held = value["holds"]
                rates = [held, *(each for each in held.values() if isinstance(each, dict))]
                if any(each.get("rate") for each in rates):
                    self.assumed.append("dropout rate 0")
                if parameter.name == "stDesc" and "xDesc" in self._recorded:  # the channels
                    n, _, h, w = held["shape"]
                    held = {**held, "shape": (n, self._held("xDesc")["shape"][1], h, w)}
                return _descriptor(base, held, self._rank(), handle, stack)
            if parameter.type.kind != "array":
                raise ValueError(f"{parameter.name}: what it holds is not recorded")
            value = None
        if parameter.type.kind == "array":
            if value is None or isinstance(value, str):
                self.assumed.append(parameter.name)
                return self._indices(parameter.name)
            return value
        if isinstance(base, type) and issubclass(base, CudnnEnum):
            return _member(base, value)
        return value

    def _rank(self) -> int:
        """Dimensions of the call's first tensor."""
        held = (each["holds"] for each in self._recorded.values() if _holds(each))
        return next((len(each["shape"]) for each in held if "strides" in each), 4)

    def _indices(self, name: str) -> list[int]:
        """Numbers for an array on the host that the record does not show."""
        if "WinIdx" in name:  # each query sees all keys
            attention = self._held("attnDesc")
            end = 0 if name == "loWinIdx" else int(attention["kv_max_length"])
            return [end] * int(attention["qo_max_length"])
        return self._labels()

    def _held(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._recorded[name]["holds"]
        return found

    def _ask_for_sizes(self) -> None:
        """Have workspaces and reserve spaces be as large as this device wants them."""
        unused = {
            name
            for each in self.function.parameters
            if each.name.startswith("reserve") and self._recorded.get(each.name) is None
            for name in each.described_by
        }
        for parameter in self.function.parameters:
            if parameter.type.told_by and parameter.name not in unused:
                with suppress(CudnnError, AttributeError, TypeError, ValueError):
                    wanted = self._asked(raw.FUNCTIONS[parameter.type.told_by], parameter.name)
                    self.values[parameter.name] = max(wanted, self.values[parameter.name])

    def _asked(self, function: Function, name: str) -> int:
        """The size that a function tells."""
        arguments: list[Any] = []
        found: dict[str, Any] = {}
        for each in function.parameters:
            if each.direction == "out":
                found[each.name] = each.type.base()
                arguments.append(found[each.name])
            elif each.name in self.values:
                arguments.append(self.values[each.name])
            else:
                arguments.append(self._like(each))
        function(*map(_out, arguments))
        told = found.get(name, next(iter(found.values())))
        return int(told.value)

    def _like(self, parameter: Parameter) -> Any:
        """The call's first argument of the same type as another function's parameter."""
        base = parameter.type.base
        for each in self.function.parameters:
            if each.type.base is base and self.values.get(each.name) is not None:
                return self.values[each.name]
        return base(1)  # training, of a call that has no mode

    # --- memory --------------------------------------------------------------------------------

    def _nbytes(self, parameter: Parameter) -> int:
        """Size in bytes of the memory that a call uses."""
        for name in parameter.described_by:
            by = self.values.get(name)
            if isinstance(by, int) and not isinstance(by, bool):
                return by
            if by is not None:
                return _extent(record(by))
        shape = self._shape(parameter)
        return math.prod(shape) * self.dtype(parameter).itemsize

    def _shape(self, parameter: Parameter) -> tuple[int, ...]:
        name = parameter.name
        if name in ("theta", "dtheta", "grid", "dgrid"):
            n, _, h, w = self._held("stDesc")["shape"]
            return (n, 2, 3) if "theta" in name else (n, h, w, 2)
        if name == "colBuffer":
            x, w = self._held("xDesc")["shape"], self._held("wDesc")["shape"]
            conv = self.values["convDesc"]
            y = conv.output_shape(self.values["xDesc"], self.values["wDesc"])
            return (*x[:1], x[1], *w[2:], *y[2:])
        if name == "costs":
            return (self._held("probsDesc")["shape"][1],)
        if parameter.type.base is not None:  # numbers of sequences
            return self.integers(name).shape
        return (_extent(record(self._before(parameter))) // self.dtype(parameter).itemsize,)

    def _before(self, parameter: Parameter) -> Any:
        """The last descriptor of memory before a parameter."""
        found = None
        for each in self.function.parameters:
            if each is parameter:
                break
            value = self.values.get(each.name)
            if value is not None and _extent(record(value) if _is_descriptor(value) else None):
                found = value
        return found

    def dtype(self, parameter: Parameter) -> np.dtype[Any]:
        """The type of the numbers in the memory of a parameter."""
        if parameter.type.base is not None:
            return np.dtype(np.int32)
        by = [self.values.get(name) for name in parameter.described_by]
        for each in (*by, self._before(parameter), self.values.get("stDesc")):
            held: Any = record(each) if _is_descriptor(each) else None
            if hasattr(held, "data_type"):
                with suppress(TypeError):
                    return numpy_dtype(held.data_type)
                return np.dtype(np.uint8)
        return np.dtype(np.float32)

    def integers(self, name: str) -> NDArray[np.int32]:
        """Lengths and labels of sequences, as the descriptors have them."""
        if "SeqLengths" in name:
            query = "QO" in name or "DQDO" in name
            for each in ("xDesc", "qDesc" if query else "kDesc", "dqDesc" if query else "dkDesc"):
                if each in self._recorded:
                    return np.asarray(self._held(each)["lengths"], np.int32)
        steps, batch, _ = self._held("probsDesc")["shape"]
        if name == "inputLengths":
            return np.full(batch, steps, np.int32)
        if name == "labelLengths":
            return np.full(batch, self._length(), np.int32)
        return np.asarray(self._labels(), np.int32)

    def _length(self) -> int:
        """The length of sequences of labels, where it is not recorded."""
        steps = int(self._held("probsDesc")["shape"][0])
        return max(min(steps // 2, self._held("ctcLossDesc").get("max_label_length") or 255), 1)

    def _labels(self) -> list[int]:
        """Labels for CTC losses; 0 is the blank."""
        _, batch, classes = self._held("probsDesc")["shape"]
        lengths = self._recorded.get("hostLabelLengths")
        count = sum(lengths) if lengths else batch * self._length()
        return [1 + i % max(classes - 1, 1) for i in range(count)]

    def run(self, memory: _Memory, handle: Handle) -> Replayed:
        """Make the call."""
        name, assumed = call_text(self.call), tuple(self.assumed)
        for parameter in self.function.parameters:
            if parameter.name in self.places:
                self.values[parameter.name] = memory.of(self, parameter)
        try:
            self.function(*(self.values[each.name] for each in self.function.parameters))
        except CudnnError as error:
            status = str(error.status).removeprefix("CUDNN_STATUS_")
            reason = next(iter(error.messages or [error.detail]), "")
            return Replayed(name, status, reason, {}, assumed)
        except (TypeError, ValueError) as error:
            return Replayed(name, "REFUSED", str(error), {}, assumed)
        outputs = {}
        for parameter in filter(is_output, self.function.parameters):
            buffer = self.values[parameter.name]
            if buffer is None or _is_space(parameter.name):
                continue
            nbytes, dtype = self.places[parameter.name][1], self.dtype(parameter)
            found = buffer.copy_to_host()[: nbytes - nbytes % dtype.itemsize]
            outputs[parameter.name] = found.view(dtype)
            memory.written(self, parameter)
        return Replayed(name, "SUCCESS", "", outputs, assumed)


class _Memory:
    """The memory of all calls: a buffer for each recorded address."""

    def __init__(self, stack: ExitStack, seed: int) -> None:
        self._stack, self._rng = stack, np.random.default_rng(seed)
        self._sizes: dict[Any, int] = {}
        self._buffers: dict[Any, DeviceBuffer] = {}
        self._known: dict[Any, np.dtype[Any]] = {}

    def reserve(self, call: _Call) -> None:
        """Have enough memory for a call."""
        for key, nbytes in call.places.values():
            self._sizes[key] = max(self._sizes.get(key, 0), nbytes)

    def of(self, call: _Call, parameter: Parameter) -> DeviceBuffer:
        """The memory of an argument, with numbers if the call reads it and nothing wrote them."""
        key, nbytes = call.places[parameter.name]
        if key not in self._buffers:
            size = max(self._sizes[key], 1)
            self._buffers[key] = self._stack.enter_context(DeviceBuffer(size))
            self._buffers[key].fill(0)
        buffer, dtype = self._buffers[key], call.dtype(parameter)
        if not _is_space(parameter.name) and self._known.get(key) != dtype:
            values = self._numbers(call, parameter, nbytes // dtype.itemsize, dtype)
            if values.nbytes:
                buffer.copy_from_host(values.view(np.uint8))
            self._known[key] = dtype
        return buffer

    def written(self, call: _Call, parameter: Parameter) -> None:
        """Note that a call wrote an argument's memory."""
        self._known[call.places[parameter.name][0]] = call.dtype(parameter)

    def _numbers(
        self, call: _Call, parameter: Parameter, count: int, dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        if parameter.type.base is not None:
            return call.integers(parameter.name).reshape(-1)
        if "Var" in parameter.name:  # a variance, or its inverse root
            return self._rng.uniform(0.5, 1.5, count).astype(dtype)
        if dtype.kind in "iu":
            return self._rng.integers(0, 4, count).astype(dtype)
        if parameter.name == "probs":
            return self._rng.uniform(0.1, 1, count).astype(dtype)
        # With larger weights a recurrent network is chaotic: of an LSTM of 56 steps, the last bits
        # of half of the inputs changed gradients beyond all tolerances.
        deviation = 0.1 if parameter.name == "weightSpace" else 0.5
        return (self._rng.standard_normal(count) * deviation).astype(dtype)


def _is_space(name: str) -> bool:
    """Whether a parameter is memory that only cuDNN reads."""
    return name.lower().startswith(("workspace", "reservespace", "temp"))


def _holds(value: Any) -> bool:
    return isinstance(value, dict) and "holds" in value


def _is_descriptor(value: Any) -> bool:
    return isinstance(value, Descriptor)


def _extent(held: Any) -> int:
    """Bytes of the memory that a record of a descriptor describes; 0 for others."""
    if hasattr(held, "size_in_bytes"):
        return int(held.size_in_bytes)
    shape = getattr(held, "memory_shape", getattr(held, "shape", None))
    if shape is None or not hasattr(held, "lengths"):
        return 0
    return int(math.prod(shape) * numpy_dtype(held.data_type).itemsize)


def _member(cls: type[CudnnEnum], value: Any) -> CudnnEnum:
    """An enumerator by its number or name."""
    if isinstance(value, int):
        return cls(value)
    return as_data_type(value) if cls is raw.cudnnDataType_t else enumerator(cls, value, "it")


def _out(value: Any) -> Any:
    """An argument; a variable of ctypes by reference."""
    return ctypes.byref(value) if isinstance(value, ctypes._SimpleCData) else value


def _descriptor(
    kind: type[OpaquePointer], held: Mapping[str, Any], rank: int, handle: Handle, stack: ExitStack
) -> Any:
    """A descriptor that holds what a record says."""
    cls: Any = getattr(legacy, kind.__name__.removeprefix("cudnn").removesuffix("_t"))
    accepted = inspect.signature(cls).parameters
    values = {"layout" if name == "format" else name: held[name] for name in held}
    for name in ("dropout", "attention_dropout", "output_dropout"):
        if isinstance(values.get(name), Mapping):
            values[name] = _dropout(values[name], handle, stack)
    for name, count in (("pad_before", rank), ("pad_after", rank), ("fold", rank - 2)):
        if name in values:
            values[name] = values[name][:count]
    if "handle" in accepted:
        return _dropout(values, handle, stack)
    values = {name: value for name, value in values.items() if name in accepted}
    return stack.enter_context(cls(**values))


def _dropout(held: Mapping[str, Any], handle: Handle, stack: ExitStack) -> Any:
    """A dropout descriptor that drops nothing: devices draw different numbers."""
    return stack.enter_context(legacy.DropoutDescriptor(handle, 0.0, seed=held["seed"]))

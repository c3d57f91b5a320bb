"""Python functions of tensors as graphs: traced for what they are called with, built, and run."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..raw import mode
from ..raw.memory import memory_pointer
from ..raw.process import new_reentrant_lock
from ..raw.values import described
from ..runtime import DeviceTensor, pytorch
from ..runtime.launching.likeness import kinds
from .describe.tensor import Tensor
from .graph import Graph
from .run.given_memory import GivenMemory, imported
from .run.tensor_memory import ResultMemory

if TYPE_CHECKING:
    from ..handle import Handle
    from .run.execution import TorchRun

_ALIGNMENT = 16  # bytes; more is of no use to cuDNN


def _is_tensor(value: Any) -> bool:
    """Whether an argument stands for a tensor of the graph."""
    return isinstance(value, Tensor) or (
        hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.generic)
    )


def look(name: str, value: Any, memory: list[Any], handle: Handle | None) -> Any:
    """The part of the key that an argument is; its memory is added to `memory`."""
    kind = kinds[value.__class__]
    if kind == "torch":
        memory.append(value)
        address = value.data_ptr()
        return value.dtype, value.shape, value.stride(), value.device, _alignment(address)
    if kind == "foreign":
        value = imported(name, value, handle)
    if isinstance(value, DeviceTensor):
        memory.append(value)
        aligned = _alignment(value.ptr)
        return value.data_type, value.shape, value.strides, value.device_id, aligned
    if isinstance(value, (tuple, list)):
        return type(value), *[look(name, each, memory, handle) for each in value]
    if isinstance(value, dict):
        return dict, *[(key, look(name, each, memory, handle)) for key, each in value.items()]
    if isinstance(value, Tensor):
        return Tensor, value
    if _is_tensor(value):
        memory_pointer(value, name)  # says what is wrong with host memory
    return type(value), value.hex() if isinstance(value, float) else value


Look = Callable[..., tuple[Any, tuple[Any, ...]]]
"""From arguments to a key, and the tensors among them."""


@functools.cache
def quick_look(classes: tuple[type, ...]) -> Look:
    """A look at PyTorch tensors and plain values of some classes; its key is finer than `look`.

    Raises KeyError for arguments of other classes.
    """
    names = [f"a{i}" for i in range(len(classes))]
    tensors = [n for n, each in zip(names, classes, strict=True) if kinds[each] == "torch"]
    parts = [
        _TENSOR if name in tensors else _PLAIN[each]
        for name, each in zip(names, classes, strict=True)
    ]
    key = "".join(f"{part.replace('$', name)}, " for name, part in zip(names, parts, strict=True))
    memory = "".join(f"{name}, " for name in tensors)
    program = f"lambda {', '.join(names)}: (({key}), ({memory}))"
    found: Look = eval(program, {"integers": _integers})  # unrolled: 4 times as fast
    return found


_TENSOR = f"$.dtype, $.shape, $.stride(), $.device, $.data_ptr() & {_ALIGNMENT - 1}"
_PLAIN: dict[type, str] = {
    **dict.fromkeys((int, bool, str, type(None)), "$"),
    float: "$.hex()",  # 0.0 equals -0.0, and NaN does not equal itself
    **dict.fromkeys((list, tuple), "integers($)"),
}
"""The part of a key that is a value of a class."""


def _integers(values: Sequence[Any]) -> tuple[int, ...]:
    if all(each.__class__ is int for each in values):
        return tuple(values)
    raise KeyError


def _alignment(address: int) -> int:
    """The largest power of two up to 16 that divides an address."""
    return min(address & -address, _ALIGNMENT) or _ALIGNMENT


def as_input(graph: Graph, name: str, value: Any, inputs: list[Tensor]) -> Any:
    """An argument with tensors of the graph in place of memory; these are added to `inputs`."""
    if isinstance(value, (tuple, list)):
        entries = [as_input(graph, f"{name}_{i}", each, inputs) for i, each in enumerate(value)]
        return entries if isinstance(value, list) else tuple(entries)
    if isinstance(value, dict):
        return {key: as_input(graph, f"{name}_{key}", v, inputs) for key, v in value.items()}
    if not _is_tensor(value):
        return value
    tensor = graph.tensor_like(value, name=name)
    address = _address(value)
    tensor.alignment = _alignment(address) if address else _ALIGNMENT
    inputs.append(tensor)
    return tensor


def _address(value: Any) -> int:
    """The address of device memory; 0 for a description."""
    if isinstance(value, DeviceTensor):
        return value.ptr
    is_torch = kinds[value.__class__] == "torch"
    return int(value.data_ptr()) if is_torch and value.device.type != "meta" else 0


def leaves(returned: Any) -> Iterator[Any]:
    """The members of tuples, lists and dicts, at any depth."""
    if isinstance(returned, (tuple, list)):
        for each in returned:
            yield from leaves(each)
    elif isinstance(returned, dict):
        yield from leaves(list(returned.values()))
    else:
        yield returned


def rebuilt(returned: Any, results: Mapping[str, Any]) -> Any:
    """The function's return value with memory, found by name, in place of each tensor."""
    if isinstance(returned, dict):
        return {key: rebuilt(each, results) for key, each in returned.items()}
    if isinstance(returned, (tuple, list)):
        parts = [rebuilt(each, results) for each in returned]
        put: Callable[[list[Any]], Any] = getattr(type(returned), "_make", type(returned))
        return put(parts)
    return results[returned.name]


class TracedGraph:
    """A graph that a function described, its inputs, and what the function returned."""

    def __init__(self, graph: Graph, inputs: list[Tensor], returned: Any) -> None:
        self.graph: Graph = graph
        self._inputs, self._returned = inputs, returned
        self._looked = False
        self._torch_run: TorchRun | None = None
        tensors = list(leaves(returned))
        if not tensors:
            raise TypeError(f"{graph.name} must return tensors, got {described(returned)}")
        for each in tensors:
            if not isinstance(each, Tensor) or not any(each is own for own in graph.tensors):
                raise TypeError(f"{graph.name} must return tensors of its graph, got {each!r}")
            if each in inputs:
                raise ValueError(
                    f"{graph.name} returns its argument {each.name!r} as it is; the graph's "
                    "identity copies it"
                )
            each.set_output()
        self._leave_out_unused()

    def _leave_out_unused(self) -> None:
        """Take arguments that the function only looked at out of the graph."""
        nodes = [each for node in self.graph.nodes for each in (node, *node.inner)]
        used = {id(tensor) for node in nodes for tensor in node.operands}
        used |= {id(each.ragged_offset) for each in self.graph.tensors}
        self._used = [id(tensor) in used for tensor in self._inputs]
        for tensor, is_used in zip(self._inputs, self._used, strict=True):
            if not is_used:
                self.graph.tensors.remove(tensor)

    def named(self, memory: Sequence[Any]) -> dict[Any, Any]:
        """Memory by tensor, from memory in the order of the arguments."""
        every = zip(self._inputs, memory, self._used, strict=True)
        return {tensor: given for tensor, given, is_used in every if is_used}

    def empty_results(self, like: Any) -> Any:
        """The function's return value with new PyTorch memory in place of tensors."""
        self.graph.validate()
        results = {each.name: ResultMemory(each).in_torch(like) for each in self.graph.outputs}
        return rebuilt(self._returned, results)

    def run(self, memory: Sequence[Any], handle: Handle | None) -> Any:
        results = self.graph.run(self.named(memory), handle=handle)
        return rebuilt(self._returned, results)

    def torch_run(self, memory: Sequence[Any]) -> TorchRun | None:
        """A function of tensors of PyTorch like these for later runs, if there can be one."""
        if not self._looked:
            self._looked, self._torch_run = True, self._made_torch_run(memory)
        return self._torch_run

    def _made_torch_run(self, memory: Sequence[Any]) -> TorchRun | None:
        returned = self._returned
        is_plain = isinstance(returned, Tensor) or (
            type(returned) is tuple and all(isinstance(each, Tensor) for each in returned)
        )
        if not is_plain or not memory:
            return None
        inputs = [
            t if is_used else None for t, is_used in zip(self._inputs, self._used, strict=True)
        ]
        return self.graph._torch_run(inputs, returned, memory[0])


_KEPT = 256  # graphs of one function


class GraphFunction:
    """A function of tensors that runs as one graph; `graph_function` makes it.

    The first call with tensors of some shapes, strides, data types and device traces the function:
    calls it with the tensors of a new `Graph`, and builds that. Later calls with such tensors find
    the graph by its key, and run it. Arguments that are no tensors are part of the key, and
    given to the function as they are: a number that changes from call to call is better a tensor.
    Called with tensors of a graph, by another such function say, it adds its operations to that.
    For gradients, and for torch.compile, there is `cudnn_ctypes.torch_ops`.

    - `function`: its first argument is the graph. It returns a tensor, or a tuple, list or dict of
      some; they become the outputs.
    - `io_data_type`: of outputs that have none of their own; by default that of the first tensor.
    - `intermediate_data_type`, `compute_data_type`: as for `Graph`.
    - `build`: arguments of ``Graph.build`` after the device: ``{"heuristics": "b"}``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        io_data_type: Any = None,
        intermediate_data_type: Any = "float32",
        compute_data_type: Any = "float32",
        build: Mapping[str, Any] | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"function: expected a function, got {described(function)}")
        functools.update_wrapper(self, function)
        self.__name__: str = getattr(function, "__name__", "graph")
        self.__qualname__: str = getattr(function, "__qualname__", self.__name__)
        self._function = function
        self._signature = _signature(function)
        parameters = self._signature.parameters.values()
        by_position = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters)
        self._names = [each.name for each in parameters] if by_position else []
        self._io_data_type = io_data_type
        self._data_types = {
            "intermediate_data_type": intermediate_data_type,
            "compute_data_type": compute_data_type,
        }
        if not isinstance(build or {}, Mapping):
            raise TypeError(f"build: expected arguments of Graph.build, got {described(build)}")
        self._build = dict(build or {})
        self._traces: dict[Any, TracedGraph] = {}
        self._runs: dict[Any, tuple[Look, dict[Any, TorchRun]]] = {}
        self._tracing = new_reentrant_lock()

    def __call__(self, *args: Any, handle: Handle | None = None, **kwargs: Any) -> Any:
        """Run it; `handle` and the kind of the results are those of ``Graph.run``.

        Raises TypeError for arguments that the function does not take, or that are neither tensors
        nor hashable.
        """
        if handle is None and not self._would_compute_gradients(args, kwargs):
            results = self.run_again(args, kwargs)
            if results is not None:
                return results
        arguments = self._arguments(args, kwargs)
        memory: list[Any] = []
        key = (
            mode.runtime,
            *[look(name, each, memory, handle) for name, each in arguments.items()],
        )
        try:
            trace = self._traces.get(key)
        except TypeError as error:
            names = ", ".join(arguments)
            raise TypeError(f"{self.__name__}: {names}: {error}") from None
        if trace is None:
            inner = [each for each in leaves(arguments) if isinstance(each, Tensor)]
            if inner:
                return self._function(self._graph_of(inner), *args, **kwargs)
            trace = self._traced(key, arguments, memory, handle)
        results = trace.run(memory, handle)
        if handle is None:
            self._learn(trace, args, kwargs)
        return results

    def run_again(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Repeat an earlier call with other tensors of PyTorch of the same form.

        Returns None if there was no such call, and for other memory. Tensors that require
        gradients are taken as they are.
        """
        values = (*args, *kwargs.values()) if kwargs else args
        try:
            quick, runs = self._runs[(*map(type, values), *kwargs)]
            key, memory = quick(*values)
            run = runs[key]
        except KeyError:
            return None
        return run(*memory)

    def _learn(self, trace: TracedGraph, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Have `run_again` repeat the call that was just made, if it can."""
        values = (*args, *kwargs.values())
        with suppress(KeyError):
            classes = tuple(map(type, values))
            quick = quick_look(classes)
            key, memory = quick(*values)
            run = trace.torch_run(memory)
            if run is not None:
                _, runs = self._runs.setdefault((*classes, *kwargs), (quick, {}))
                while len(runs) >= _KEPT:
                    runs.pop(next(iter(runs)))
                runs[key] = run

    @staticmethod
    def _would_compute_gradients(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether PyTorch would, through one of the arguments."""
        if kwargs:
            args = (*args, *kwargs.values())
        required = any(getattr(each, "requires_grad", False) for each in args)
        return required and pytorch.gradients_enabled()

    def _graph_of(self, tensors: Sequence[Tensor]) -> Any:
        """The one graph whose tensors are the arguments."""
        graph = tensors[0].graph
        for each in tensors:
            if not graph._owns(each):
                raise ValueError(
                    f"{self.__name__}: {each!r} is of another graph than {tensors[0]!r}"
                )
        return graph

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph for such arguments: described, not built, and the caller's own.

        - `*args`, `**kwargs`: those of a call. For tensors anything that has a shape, strides and a
          data type: also NumPy arrays, PyTorch's tensors on "meta", and ``graph.Tensor``.
        """
        return self._trace(self._arguments(args, kwargs)).graph

    def empty_results(self, *args: Any, **kwargs: Any) -> Any:
        """The results of a call, uninitialized: nothing is built or run.

        - `*args`, `**kwargs`: those of a call; among them a tensor of PyTorch, of any device, also
          "meta".
        """
        arguments = self._arguments(args, kwargs)
        like = next((x for x in leaves(arguments) if hasattr(x, "new_empty_strided")), None)
        if like is None:
            raise TypeError(f"{self.__name__}: expected a tensor of PyTorch among the arguments")
        return self._trace(arguments).empty_results(like)

    def clear(self) -> None:
        """Forget all graphs, and destroy their plans."""
        with self._tracing:
            self._runs.clear()
            while self._traces:
                self._traces.popitem()[1].graph.close()

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if not kwargs and len(args) == len(self._names):  # the usual case, and binding takes long
            return dict(zip(self._names, args, strict=True))
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def _traced(
        self, key: Any, arguments: dict[str, Any], memory: list[Any], handle: Handle | None
    ) -> TracedGraph:
        """The trace of a key, which is made and built; one thread does."""
        with self._tracing:
            trace = self._traces.get(key)
            if trace is None:
                trace = self._trace(arguments)
                given = GivenMemory(trace.named(memory), handle)
                with given.on(handle) as chosen:
                    trace.graph._build_without_handle(chosen, **self._build)
                while len(self._traces) >= _KEPT:
                    self._traces.pop(next(iter(self._traces))).graph.close()
                self._traces[key] = trace
        return trace

    def _trace(self, arguments: dict[str, Any]) -> TracedGraph:
        graph = Graph(self.__name__, io_data_type=self._io_data_type, **self._data_types)
        inputs: list[Tensor] = []
        given = {name: as_input(graph, name, v, inputs) for name, v in arguments.items()}
        if graph.io_data_type is None and inputs:
            graph.io_data_type = inputs[0].data_type
        call = inspect.BoundArguments(self._signature, OrderedDict(given))
        returned = self._function(graph, *call.args, **call.kwargs)
        return TracedGraph(graph, inputs, returned)

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<graph function {self.__name__}{self._signature}, {len(self._traces)} graphs>"


@overload
def graph_function(function: Callable[..., Any], /) -> GraphFunction: ...


@overload
def graph_function(
    *,
    io_data_type: Any = ...,
    intermediate_data_type: Any = ...,
    compute_data_type: Any = ...,
    build: Mapping[str, Any] | None = ...,
) -> Callable[[Callable[..., Any]], GraphFunction]: ...


def graph_function(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Decorate a function of a graph and tensors: calls with device memory run it as one graph.

    Parameters
    ----------
    function : callable
        Called with a graph and its tensors; returns the results.
    **options
        Those of `GraphFunction`: ``@graph_function(compute_data_type="float32", build={…})``.

    Returns
    -------
    GraphFunction

    Raises
    ------
    TypeError
        If `function` is not callable, or an option is unknown.

    Examples
    --------
    >>> @graph_function
    ... def layer(graph, x, w, bias):
    ...     return graph.relu(graph.conv_fprop(x, w, padding=1) + bias)
    >>> y = layer(x, w, bias)  # doctest: +SKIP
    >>> layer.graph(x, w, bias).explain(handle).show()  # doctest: +SKIP
    """
    if function is not None:
        return GraphFunction(function, **options)
    return functools.partial(GraphFunction, **options)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of calls: without the graph."""
    try:
        signature = inspect.signature(function)
    except ValueError as error:  # of some that are not written in Python
        raise TypeError(f"function: expected one with named parameters: {error}") from None
    first, *others = signature.parameters.values() or (None,)
    if first is None or first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise TypeError(f"{function!r}: its first argument must be the graph, then come tensors")
    if first.name == "self":
        raise TypeError(
            f"{function!r}: its first argument must be the graph, a method's is its object: "
            f"decorate a function outside of the class, and call it from the method"
        )
    if any(each.name == "handle" for each in others):
        raise TypeError(f"{function!r}: calls take an argument 'handle', so it cannot have one")
    return signature.replace(parameters=others)

"""A graph that takes arrays in place of tensors, is built when its ``with`` ends, and is called."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..arguments import items
from ..graph.run.tensor_memory import ResultMemory
from ..raw import mode
from ..runtime import DeviceBuffer, DeviceTensor, pytorch
from ..runtime.allocation import Allocator
from .described import METHODS, in_classic_order
from .enums import data_type, heur_mode
from .errors import InvalidGraphError
from .handles import default_handle, set_stream
from .python_graph import pygraph
from .tensors import tensor

# Its own steps, which the end of the ``with`` takes.
_TAKEN_CARE_OF = (
    "autotune",
    "backend_",
    "build",
    "close",
    "check_",
    "create_",
    "deselect_",
    "execute",
    "populate_",
    "select",
    "update_",
    "validate",
)


class Graph:
    """A `pygraph` to be described in a ``with`` statement and called afterwards.

    In the statement its operations take arrays (PyTorch tensors, anything with ``__dlpack__``) as
    well as tensors. At its end the graph is built. Then ``graph(x, w)`` gives the outputs, for
    the inputs in the order of `set_io_tuples`; ``graph({"conv::image": x, …})`` takes arrays by
    name, tensor or uid, and returns the mapping with the outputs that were missing in it.

    An operand is called "node::argument", a result as its tensor is: "node::Y".

    Parameters
    ----------
    handle : int, Handle or "auto", optional
        "auto" is the default handle on PyTorch's current stream.
    inputs, outputs : sequence, optional
        As for `set_io_tuples`.
    heuristics : sequence of heur_mode, optional
        A and FALLBACK by default.
    workspace_alloc : bool
        Whether the graph keeps a workspace; without it calls take ``workspace=``.
    **kwargs
        Those of `pygraph`.
    """

    def __init__(
        self,
        *,
        handle: Any = None,
        inputs: Sequence[Any] | None = None,
        outputs: Sequence[Any] | None = None,
        heuristics: Sequence[heur_mode] | None = None,
        workspace_alloc: bool = True,
        **kwargs: Any,
    ) -> None:
        self._handle = handle
        self._order = (inputs, outputs)
        modes = items("heuristics", () if heuristics is None else heuristics, "modes")
        self._modes = list(modes or (heur_mode.A, heur_mode.FALLBACK))
        self._allocates = workspace_alloc
        self._options = kwargs
        self._graph: pygraph | None = None
        self._workspace: Any = None
        self._arrays: dict[int, tuple[Any, tensor]] = {}  # the array stays alive: its id is the key
        self._inputs: dict[str, tensor] = {}
        self._outputs: dict[str, tensor] = {}
        self._own: list[tensor] = []
        self._counts: dict[str, int] = {}
        self._positional: tuple[list[tensor], list[tensor]] | None = None

    # --- describing ------------------------------------------------------------------------------

    def __enter__(self) -> Graph:
        if self._graph is not None:
            raise RuntimeError("this Graph was described already")
        handle = None if self._handle in (None, "auto") else self._handle
        self._graph = pygraph(handle=handle, **self._options)
        return self

    def __exit__(self, exc_type: Any, exc: Any, traceback: Any) -> None:
        if exc_type is not None:
            self._graph = None
            return
        graph = self._described()
        graph.build(self._modes)
        size = graph.get_workspace_size()
        if self._allocates and size:
            self._workspace = DeviceBuffer(size)
            weakref.finalize(self, self._workspace.close).atexit = False
        if any(self._order):
            self.set_io_tuples(*(each or () for each in self._order))

    def _described(self) -> pygraph:
        if self._graph is None:
            raise RuntimeError("describe this Graph in a with statement first")
        return self._graph

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        method = getattr(self._described(), name)
        if name in METHODS:
            return functools.partial(self._add, name, method)
        if name in ("tensor", "tensor_like", "tensor_scalar"):
            return functools.partial(self._made_tensor, method)
        if name.startswith(_TAKEN_CARE_OF):
            raise RuntimeError(f"{name}: a Graph takes care of this itself; use a pygraph")
        return method

    def _made_tensor(self, method: Callable[..., tensor], *args: Any, **kwargs: Any) -> tensor:
        result = method(*args, **kwargs)
        self._own.append(result)
        return result

    def _add(self, operation: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        number = self._counts[operation] = self._counts.get(operation, -1) + 1
        node = kwargs["name"] = kwargs.get("name") or f"{operation}.{number}"
        if any(key.startswith(f"{node}::") for key in self._inputs):
            raise ValueError(f"there is a node {node!r} already")
        args, kwargs = in_classic_order(operation, args, kwargs)
        arguments = inspect.signature(method).bind(*args, **kwargs).arguments
        for place, (key, value) in enumerate(arguments.items()):
            arguments[key] = self._as_tensors(value, f"{node}::{key}")
            if place < len(args):
                self._as_tensors(arguments[key], f"{node}::{place}")
        results = method(**arguments)
        for each in results if isinstance(results, list) else [results]:
            if each is not None:
                self._outputs[each.get_name()] = each
        return results

    def _as_tensors(self, value: Any, name: str) -> Any:
        """`value` with tensors in place of arrays; tensors are known by `name` from now on."""
        if isinstance(value, tuple):
            return tuple(self._as_tensors(v, f"{name}::{i}") for i, v in enumerate(value))
        if hasattr(value, "__dlpack__"):
            if id(value) not in self._arrays:
                plain = value.detach() if getattr(value, "requires_grad", False) else value
                self._arrays[id(value)] = (value, self._described().tensor_like(plain))
            value = self._arrays[id(value)][1]
        if isinstance(value, tensor):
            self._inputs[name] = value
        return value

    # --- calling ---------------------------------------------------------------------------------

    def set_io_tuples(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Choose the order of arguments and results.

        Parameters
        ----------
        inputs, outputs : list or tuple
            Of tensors, of names, of uids, or of the arrays that stood for operands.

        Raises
        ------
        ValueError
            If one is not known, or twice there, or an operand or output of the graph is missing.
        """
        for what, value in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(value, (list, tuple)):
                raise ValueError(f"{what}: expected a list or tuple, got {value!r}")
        if self._described().get_execution_plan_count() == 0:
            self._order = (inputs, outputs)
            return
        found = (
            [self._find(each, self._inputs, "inputs") for each in inputs],
            [self._find(each, self._outputs, "outputs") for each in outputs],
        )
        listed = [id(each) for each in (*found[0], *found[1])]
        if len(set(listed)) < len(listed):
            raise ValueError("inputs, outputs: one tensor is listed twice")
        for name, each in (*self._inputs.items(), *self._outputs.items()):
            if not each.get_is_virtual() and each.value is None and id(each) not in listed:
                raise ValueError(f"{name} is neither among inputs nor outputs")
        self._positional = found

    def _find(self, key: Any, tensors: Mapping[str, tensor], what: str) -> tensor:
        if id(key) in self._arrays:
            key = self._arrays[id(key)][1]
        candidates = [*tensors.items(), *(("", each) for each in self._own)]
        for name, each in candidates:
            if key is each or (isinstance(key, str) and key and key in (name, each.get_name())):
                return each
            if isinstance(key, int) and key == each.get_uid():
                return each
        raise ValueError(f"{what}: {key!r} is not known; there are {', '.join(tensors)}")

    def __call__(self, *args: Any, workspace: Any = None, handle: Any = None) -> Any:
        if len(args) == 1 and isinstance(args[0], dict):
            return self._call_by_name(args[0], workspace, handle)
        if self._positional is None:
            raise ValueError("call set_io_tuples() before the Graph is called with arrays")
        inputs, outputs = self._positional
        if len(args) != len(inputs):
            raise ValueError(f"expected {len(inputs)} arrays, got {len(args)}")
        results = [_empty(each, args) for each in outputs]
        memory = dict(zip((*inputs, *outputs), (*args, *results), strict=True))
        self._run(memory, workspace, handle)
        return results[0] if len(results) == 1 else results

    def _call_by_name(self, arrays: dict[Any, Any], workspace: Any, handle: Any) -> Any:
        memory: dict[tensor, Any] = {}
        own = ((each.get_name(), each) for each in self._own)  # ragged offsets are no arguments
        for name, each in (*self._inputs.items(), *self._outputs.items(), *own):
            if each in memory or each.get_is_virtual() or each.value is not None:
                continue
            for key in (name, each, each.get_name(), each.get_uid()):
                if key in arrays:
                    memory[each] = arrays[key]
        for name, each in self._outputs.items():
            if each not in memory and not each.get_is_virtual():
                memory[each] = arrays[name] = _empty(each, tuple(arrays.values()))
        missing = [
            name
            for name, each in self._inputs.items()
            if each not in memory and not each.get_is_virtual() and each.value is None
        ]
        if missing:
            raise InvalidGraphError(f"no array was given for {', '.join(missing)}")
        self._run(memory, workspace, handle)
        return arrays

    def _run(self, memory: Mapping[Any, Any], workspace: Any, handle: Any) -> None:
        graph = self._described()
        if workspace is None:
            workspace = self._workspace
        if handle is None and self._handle == "auto":
            handle = default_handle()
            stream = mode.runtime.current_stream("torch")
            if stream is not None:
                set_stream(handle, stream)
        graph.execute(memory, workspace, handle)


def _empty(like: tensor, arrays: Sequence[Any]) -> Any:
    """New memory for an output: PyTorch's if it is loaded, as in the front end, else ours.

    It is a `DeviceTensor` where an operand is one.
    """
    result = ResultMemory(like)
    for each in arrays:
        if pytorch.is_torch(type(each)):
            return result.in_torch(each)
    made = result.in_order_of(Allocator())
    torch: Any = sys.modules.get("torch")
    is_ours = torch is None or any(isinstance(each, DeviceTensor) for each in arrays)
    return made if is_ours else torch.from_dlpack(made)


@contextmanager
def graph(
    handle: Any,
    name: str = "cudnn_graph",
    io_data_type: Any = data_type.HALF,
    intermediate_data_type: Any = data_type.FLOAT,
    compute_data_type: Any = data_type.FLOAT,
) -> Iterator[tuple[pygraph, list[Any]]]:
    """``with graph(handle) as (g, tensors)``: a `pygraph`, and an empty list for its tensors."""
    made = pygraph(
        name=name,
        io_data_type=io_data_type,
        intermediate_data_type=intermediate_data_type,
        compute_data_type=compute_data_type,
        handle=handle,
    )
    yield made, []


def jit(heur_modes: Any = heur_mode.A, **options: Any) -> Callable[..., Any]:
    """Decorate a function that returns (graph, tensors): the graph is built, if it is not yet.

    The decorated function returns the graph and the tensors' unique ids.

    Parameters
    ----------
    heur_modes : heur_mode or list of heur_mode
    **options
        Taken, and of no effect, as in the front end.
    """
    modes = heur_modes if isinstance(heur_modes, (list, tuple)) else [heur_modes]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def built(*args: Any, **kwargs: Any) -> tuple[Any, list[int]]:
            graph, tensors = function(*args, **kwargs)
            if graph.get_execution_plan_count() == 0:
                graph.build(modes)
            return graph, [each.get_uid() for each in tensors]

        return built

    return decorate


def graph_cache(key_fn: Callable[..., Any], maxsize: int = 256) -> Callable[..., Any]:
    """Decorate a function: of equal ``key_fn(*args, **kwargs)`` it is called once.

    Parameters
    ----------
    key_fn : callable
    maxsize : int
        How many results are kept; the oldest goes first.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept: OrderedDict[Any, Any] = OrderedDict()

        @functools.wraps(function)
        def cached(*args: Any, **kwargs: Any) -> Any:
            key = key_fn(*args, **kwargs)
            if key not in kept:
                result = function(*args, **kwargs)
                while len(kept) >= maxsize:
                    kept.popitem(last=False)
                kept[key] = result
            return kept[key]

        return cached

    return decorate

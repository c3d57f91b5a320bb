"""Graphs in ``with`` statements and by decorators."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .enums import data_type, heur_mode
from .python_graph import pygraph

__all__ = ["graph", "graph_cache", "jit"]


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

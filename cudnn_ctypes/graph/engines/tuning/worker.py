"""A worker's share of an autotuning: some configs, measured on the worker's GPU."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ....errors import CudnnError, SymbolNotFoundError
from ....raw.library import load
from ....runtime import DeviceBuffer
from ...backend.engine import Engine, EngineChoice
from ..cache.known_gpus import important_properties
from ..selection import Selection
from .autotuning import bench, check_handle
from .gpu_lock import gpu_lock
from .measurement import Measurement, Settings
from .tuning import Tuner, failed

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.descriptor import BackendDescriptor

__all__ = ["Chunk", "Target", "measured"]


@dataclass(frozen=True)
class Target:
    """The GPU and the cuDNN that engine configs belong to.

    Attributes
    ----------
    cudnn : str
        Version.
    device : mapping
        Properties by cuDNN's names.
    """

    cudnn: str
    device: Mapping[str, Any]

    @classmethod
    def of(cls, handle: Handle) -> Target:
        return cls(load().version_text, important_properties(handle))

    def check(self, here: Target) -> None:
        """Refuse a worker that has another GPU, or another cuDNN.

        Raises
        ------
        ValueError
        """
        if self.cudnn != here.cudnn:
            raise ValueError(
                f"the worker has cuDNN {here.cudnn}, and engines are those of cuDNN {self.cudnn}"
            )
        names = {*self.device, *here.device}
        other = sorted(n for n in names if self.device.get(n) != here.device.get(n))
        if other:
            shown = ", ".join(
                f"{name} {here.device.get(name)!r} instead of {self.device.get(name)!r}"
                for name in other
            )
            raise ValueError(f"the worker has another GPU: {shown}")


@dataclass(frozen=True)
class Chunk:
    """Configs that one worker measures, one after the other; it can be pickled.

    Attributes
    ----------
    graph : Graph
        Its description; workers take a copy.
    choices : tuple of (EngineChoice, str)
        Each with who proposed it.
    operands : mapping
        By unique id, arrays of bytes on the host or numbers; the others are random.
    target : Target
    settings : Settings
    selection : Selection
    sm_count : int, optional
    """

    graph: Any
    choices: tuple[tuple[EngineChoice, str], ...]
    operands: Mapping[int, Any]
    target: Target
    settings: Settings
    selection: Selection
    sm_count: int | None = None

    def parts(self) -> list[Chunk]:
        """A chunk for each config."""
        return [replace(self, choices=(each,)) for each in self.choices]


def measured(chunk: Chunk, device: int | None) -> list[Measurement]:
    """The measurements of a chunk's configs, in their order.

    Parameters
    ----------
    chunk : Chunk
    device : int, optional
        Number of the GPU; by default the current one of the worker.

    Raises
    ------
    ValueError
        If the worker has another GPU, or another cuDNN, than the configs are for.
    """
    from ....handle import Handle

    graph = copy.copy(chunk.graph)
    with ExitStack() as stack:
        handle = stack.enter_context(Handle(device=device))
        check_handle(handle)
        chunk.target.check(Target.of(handle))
        memory = {uid: _on_the_gpu(value, handle, stack) for uid, value in chunk.operands.items()}
        tuner, lowering = stack.enter_context(
            bench(
                graph,
                graph.expansion(handle),
                handle,
                memory,
                chunk.settings,
                chunk.selection,
                alone=functools.partial(gpu_lock, str(handle.device.uuid)),
            )
        )
        stack.callback(tuner.close)
        return [
            _measured(tuner, lowering.graph, handle, choice, source, chunk.sm_count)
            for choice, source in chunk.choices
        ]


def _on_the_gpu(value: Any, handle: Handle, stack: ExitStack) -> Any:
    if not hasattr(value, "nbytes") or not getattr(value, "ndim", 0):
        return value
    buffer = DeviceBuffer(value.nbytes, device=handle.device, stream=handle.stream)
    stack.enter_context(buffer)
    buffer.copy_from_host(value, stream=handle.stream)
    return buffer


def _measured(
    tuner: Tuner,
    graph: BackendDescriptor,
    handle: Handle,
    choice: EngineChoice,
    source: str,
    sm_count: int | None,
) -> Measurement:
    """The measurement of one config, under the name by which it was asked for."""
    noted = Measurement(choice.engine, choice.knobs, source, "not tried")
    try:
        with (
            Engine(graph, choice.engine, device=handle, sm_count=sm_count) as engine,
            engine.config(choice.knobs) as config,
        ):
            found = tuner.measure(config, source)
            if found is None:  # another choice means the same
                found = next(m for m in tuner.measurements if m.choice == config.choice)
    except (CudnnError, SymbolNotFoundError, ValueError) as error:
        return failed(noted, error)
    return replace(found, knobs=choice.knobs, source=source)

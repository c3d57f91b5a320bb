"""CUDA graphs of plans: captured from a stream, or filled in by cuDNN itself."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from ... import raw
from ...errors import ClosedError, NoDeviceError, NotSupportedError, OwnReason
from ...raw.values import described
from ...resource import Resource
from ...runtime import cuda
from ...runtime.cuda import as_core_stream
from ...runtime.stream import LEGACY_DEFAULT, as_stream_pointer

if TYPE_CHECKING:
    from ...handle import Handle
    from ..backend.descriptor import BackendDescriptor
    from .plan import ExecutionPlan

from ...resource import Closing, Uncopied

_NOTE = "supports_cuda_graph_native_api"


class CapturedGraph(Closing, Uncopied):
    """Launches that were recorded once, to be replayed in one; `capture` makes it.

    The same memory is read and written each time: operands, workspaces, plans and the handle must
    live as long as this. For an example see `capture`.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._graph: Any = None

    def replay(self, stream: Any = None) -> None:
        """Launch it all on `stream`, by default the handle's.

        Raises
        ------
        ClosedError
            If it is closed.
        ValueError
            If the capture has not ended.
        """
        if self._graph is None:
            raise ValueError("this graph is still being captured: leave the with block first")
        if self._graph is _CLOSED:
            raise ClosedError("this CapturedGraph is closed")
        chosen = self._handle.stream if stream is None else stream
        self._graph.launch(as_core_stream(chosen, self._handle.device))

    __call__ = replay

    @property
    def graph(self) -> Any:
        """The executable ``cuda.core`` graph."""
        return self._graph

    def close(self) -> None:
        """Destroy the graph. A second call does nothing."""
        if self._graph not in (None, _CLOSED):
            self._graph.close()
        self._graph = _CLOSED


_CLOSED: Any = object()


@contextmanager
def capture(handle: Handle) -> Iterator[CapturedGraph]:
    """Record what is launched on the handle's stream instead of carrying it out.

    A handle on the legacy default stream, which cannot be captured, has a stream of its own until
    the block ends. What is captured must not wait for the GPU or allocate memory.

    Returns
    -------
    CapturedGraph
        Filled when the ``with`` ends.

    Raises
    ------
    NoDeviceError
        If the handle is on the reference device.
    RuntimeError
        If something in the block cannot be captured.

    Examples
    --------
    >>> with capture(handle) as graph:  # doctest: +SKIP
    ...     plan.execute(handle, pointers, workspace)
    >>> graph.replay()  # doctest: +SKIP
    """
    _check_handle(handle)
    before, device = handle.stream, handle.device
    on_default = as_stream_pointer(before) in (0, LEGACY_DEFAULT)
    stream = device.create_stream() if on_default else as_core_stream(before, device)
    captured = CapturedGraph(handle)
    handle.stream = stream
    builder = stream.create_graph_builder()
    try:
        builder.begin_building()
        yield captured
        try:
            captured._graph = builder.end_building().complete()
        except Exception as error:
            raise RuntimeError(f"this cannot be captured as a CUDA graph: {error}") from error
    finally:
        with suppress(Exception):  # it ends what cannot be captured, and complains
            builder.close()
        handle.stream = before


class NativeGraph(Resource[raw.cudaGraph_t]):
    """A plan as a CUDA graph that cuDNN fills in; follows ``cudnnBackendPopulateCudaGraph``.

    Unlike a captured one its memory can be exchanged (`update`), and its nodes can be put into a
    larger graph. cuDNN 9.5.

    Parameters
    ----------
    handle : Handle
    plan : ExecutionPlan
        Of an engine with the note "supports_cuda_graph_native_api". It must live as long as this.
    pointers, workspace
        As for ``ExecutionPlan.execute``.

    Raises
    ------
    NotSupportedError
        If the plan's engine lacks the note.
    SymbolNotFoundError
        Before cuDNN 9.5.
    NoDeviceError
        If the handle is on the reference device.

    Examples
    --------
    >>> native = NativeGraph(handle, plan, pointers, workspace)  # doctest: +SKIP
    >>> native.replay()  # doctest: +SKIP
    >>> native.update(other_pointers, workspace)  # doctest: +SKIP
    """

    def __init__(
        self,
        handle: Handle,
        plan: ExecutionPlan,
        pointers: Mapping[int, Any],
        workspace: Any = None,
    ) -> None:
        _check_handle(handle)
        if _NOTE not in plan.behavior_notes:
            _refuse(plan, f"its engine lacks the note {_NOTE!r}")
        if not plan.is_one_call:
            _refuse(plan, "it writes to its workspace before each execution")
        self.handle = handle
        self.plan = plan
        self._pack: BackendDescriptor | None = None
        self._graph = cuda.call("cuGraphCreate", 0)
        self._executables: list[Any] = []
        graph = raw.cudaGraph_t()
        graph.value = int(self._graph)
        super().__init__(
            graph,
            functools.partial(_destroy, self._graph, self._executables),
            parents=(handle, plan.descriptor),
        )
        try:
            self._fill(raw.cudnnBackendPopulateCudaGraph, pointers, workspace)
            self._executables.append(cuda.call("cuGraphInstantiate", self._graph, 0))
        except BaseException:
            self.close()
            raise

    @property
    def cuda_graph(self) -> Any:
        """The ``CUgraph`` of ``cuda.bindings``, to be put into others as a child."""
        self._as_parameter_  # noqa: B018  raises if this is closed
        return self._graph

    def update(self, pointers: Mapping[int, Any], workspace: Any = None) -> None:
        """Exchange the memory; follows ``cudnnBackendUpdateCudaGraph``."""
        self._fill(raw.cudnnBackendUpdateCudaGraph, pointers, workspace)
        cuda.call("cuGraphExecUpdate", self._executables[0], self._graph)

    def _fill(self, function: Any, pointers: Mapping[int, Any], workspace: Any) -> None:
        self._as_parameter_  # noqa: B018  raises if this is closed
        pack = self.plan.variant_pack(pointers, workspace)
        try:
            function(self.handle, self.plan.descriptor, pack, self)
        except BaseException:
            pack.close()
            raise
        # It keeps operands and numbers by value alive.
        self._pack, old = pack, self._pack
        if old is not None:
            old.close()

    def replay(self, stream: Any = None) -> None:
        """Launch it on `stream`, by default the handle's."""
        self._as_parameter_  # noqa: B018  raises if this is closed
        chosen = self.handle.stream if stream is None else stream
        cuda.call("cuGraphLaunch", self._executables[0], as_stream_pointer(chosen))

    __call__ = replay

    def close(self) -> None:
        super().close()
        if self._pack is not None:
            self._pack.close()


def _destroy(graph: Any, executables: list[Any], _: raw.cudaGraph_t) -> None:
    while executables:
        cuda.call("cuGraphExecDestroy", executables.pop())
    cuda.call("cuGraphDestroy", graph)


def _refuse(plan: ExecutionPlan, reason: str) -> NoReturn:
    raise NotSupportedError(
        "cudnnBackendPopulateCudaGraph",
        raw.cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API,
        arguments={"executionPlan": repr(plan)},
        detail=reason,
        source=OwnReason.source,
        hint="capture() works with every plan",
    )


def _check_handle(handle: Any) -> None:
    if not isinstance(getattr(handle, "_as_parameter_", None), raw.cudnnHandle_t):
        raise TypeError(f"handle: expected a Handle, got {described(handle)}")
    if getattr(handle, "on_reference_device", False):
        raise NoDeviceError("the reference device has no CUDA graphs; they need a GPU")

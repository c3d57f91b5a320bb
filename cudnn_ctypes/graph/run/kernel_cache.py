"""Kernels that plans for graphs of one topology and many shapes share."""

from __future__ import annotations

from ...errors import CudnnError
from ...resource import Closing, Uncopied
from ..backend.descriptor import BackendDescriptor
from .stored_plan import StoredPlan, sealed


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

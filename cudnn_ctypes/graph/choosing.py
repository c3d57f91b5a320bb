"""The methods of `Graph` by which a user sees and chooses among cuDNN's engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..handle import Handle
    from ..raw import cudnnDataType_t
    from .device_properties import DeviceProperties
    from .engines import Engine
    from .explain import Explanation
    from .node import Node
    from .selection import Selection

__all__ = ["EngineChoosing"]


class EngineChoosing:
    """What `Graph` can do about engines."""

    name: str
    compute_data_type: cudnnDataType_t
    tensors: list[Any]

    if TYPE_CHECKING:

        def validate(self) -> list[Node]: ...

    def engine(
        self, device: Handle | DeviceProperties, index: int, *, sm_count: int | None = None
    ) -> Engine:
        """One of cuDNN's engines for this graph, to look at its knobs and notes; to be closed.

        Raises
        ------
        ValueError
            As in `validate`; if there is no such engine.
        NotSupportedError
            If this engine cannot carry out this graph; the message has cuDNN's reason.

        Examples
        --------
        >>> with graph.engine(device, 22) as engine:  # doctest: +SKIP
        ...     print(engine.knobs["tile_size"].values)
        range(0, 24)
        >>> graph.build(device, config=EngineChoice(22, {"tile_size": 8}))  # doctest: +SKIP
        """
        from .building import lowered_engine

        return lowered_engine(
            self.validate(), self.compute_data_type, device, index, sm_count=sm_count
        )

    def engine_count(self, device: Handle | DeviceProperties) -> int:
        """How many engines cuDNN has for graphs of this pattern, usable or not."""
        from .building import lowered
        from .engines import engine_count

        with lowered(self.validate(), self.compute_data_type, device) as graph:
            return engine_count(graph)

    def explain(
        self,
        device: Handle | DeviceProperties,
        heuristics: str | Sequence[str] = ("a", "b", "fallback"),
        *,
        selection: Selection | None = None,
        compile: bool = False,
        sm_count: int | None = None,
    ) -> Explanation:
        """Every engine config for this graph: what it is and needs, whether and why not it works.

        These are the configs that heuristics propose, and every engine that they do not propose,
        its knobs left to cuDNN. The graph's plan stays as it is.

        Parameters
        ----------
        device : Handle or DeviceProperties
            The GPU; by its properties, one that need not be there.
        heuristics : str or sequence of str
            Modes to ask.
        selection : Selection, optional
            What it does not want is marked so.
        compile : bool
            Whether to compile engines of runtime fusion too, which takes up to a second for each
            config. Otherwise theirs are "accepted": cuDNN checked all but the compilation.
            Plans of precompiled engines are always made, which takes a tenth of a millisecond.
        sm_count : int, optional
            How many multiprocessors to use.

        Returns
        -------
        Explanation
            Rows as data; ``print`` gives a table, its ``show()`` one in colours on a terminal.

        Raises
        ------
        ValueError, SymbolNotFoundError
            As in `build`.
        CudnnError
            If cuDNN refuses the graph before it comes to engines; the message names the operation.
        """
        from .building import as_modes
        from .explain import explain

        modes = as_modes(heuristics)
        return explain(
            self.validate(),
            self.compute_data_type,
            device,
            modes,
            name=self.name,
            selection=selection,
            compile=compile,
            sm_count=sm_count,
        )

"""Execution of one plan with whatever a program calls its operands, and gives for them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from ...raw import gpus
from ...raw.function import watched
from ...raw.memory import memory_pointer
from ...raw.typed_memory import by_class
from ...runtime import pytorch
from ...runtime.launching.executions import Operand
from .given_memory import give_back, taken
from .tensor_memory import Extent, Shape, extent, find_tensor, host_value, refusal, with_shape

if TYPE_CHECKING:
    from ...handle import Handle
    from ...runtime.launching.executions import Executions
    from ..describe.tensor import Tensor
    from .plan import BoundPlan, ExecutionPlan
    from .tensor_memory import ResultMemory


_MOST = 64  # descriptions of memory that are remembered of one operand


class Operands:
    """The tensors of a built graph that an execution gives memory or numbers for.

    - `tensors`: those with memory, or passed by value; an operand's place is its index here.
    - `renamed`: called when an operand is found to have another name than before.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors: list[Tensor] = [
            each for each in tensors if not each.virtual and not each.scratch
        ]
        self.uids: tuple[int, ...] = tuple(each.uid or 0 for each in self.tensors)
        self.renamed: Callable[[], object] = lambda: None
        self._name()
        self._extents = [None if each.by_value else self.extent(each) for each in self.tensors]
        # By place what `by_class` gives for memory that was found to fit.
        self._fitting: list[set[Any]] = [set() for _ in self.tensors]
        # Memory that is part of another operand's: its place, that one's, and the offset in bytes.
        self._views = self._find_views()
        self._by_value = [(at, t, t.value) for at, t in enumerate(self.tensors) if t.by_value]
        # The numbers that are fixed in the graph, which the user need not give.
        self._numbers = [
            None if each.value is None else host_value(each.value, each) for each in self.tensors
        ]
        self._fixed = [
            None if number is None else ctypes.addressof(number) for number in self._numbers
        ]
        self._needed = self._fixed.count(None)

    def _name(self) -> None:
        """Note where each operand is, by all that it may be called."""
        self._places: dict[Any, int] = {}
        names = [each.name for each in self.tensors]
        for place, each in enumerate(self.tensors):
            self._places[each] = self._places[each.uid or 0] = place
            if names.count(each.name) == 1:
                self._places[each.name] = place
        self._in_memory = {k: at for k, at in self._places.items() if not self.tensors[at].by_value}

    def _find_views(self) -> list[tuple[int, int, int]]:
        found = []
        for place, each in enumerate(self.tensors):
            view = getattr(each, "view_of", None)
            if view is not None:
                found.append((place, self.uids.index(view[0]), view[1]))
        return found

    def addresses(
        self,
        memory: Mapping[Any, Any],
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> tuple[list[Any], dict[int, Any]]:
        """For each operand its address, and by place the numbers that were given.

        The numbers' addresses are good for as long as the caller keeps them. With `check` memory
        is held against its tensor. Errors are those of ``Graph.execute``.
        """
        if type(memory) is not dict and not isinstance(memory, Mapping):
            raise TypeError(f"variant pack: expected a mapping, got a {type(memory).__name__}")
        found: list[Any] = self._fixed.copy()
        numbers = self._changed_numbers(found) if self._needed < len(found) else {}
        place_of = self._in_memory.get
        for key, value in memory.items():
            place = place_of(key)
            if place is None:
                place = self.place_of(key)
                if place is None:
                    continue
                tensor = self.tensors[place]
                if tensor.by_value:
                    numbers[place] = number = self.number(value, tensor)
                    found[place] = ctypes.addressof(number)
                    continue
            if type(value) is int and not value >> 64:
                found[place] = value
                continue
            address = memory_pointer(value, self.tensors[place].name)
            if check:
                self._check(value, place, shapes)
            found[place] = address
        for place, base, offset in self._views:
            found[place] = found[base] and found[base] + offset
        if len(memory) != self._needed:
            self.check_keys(memory)
        if not all(found):
            self._refuse_missing(found)
        return found, numbers

    def launched(self, memory: Mapping[Any, Any]) -> tuple[list[Operand], list[int]] | None:
        """The operand of each place in executions with these keys, and the place of each key.

        None if a key is unknown, or numbers are among the operands.
        """
        operands = [Operand()] * len(self.tensors)
        for place, base, offset in self._views:
            operands[place] = Operand(base=base, offset=offset)
        for place, tensor, value in self._by_value:
            operands[place] = Operand(number=self._fixed[place], tensor=tensor, value=value)
        taken = [at for at, each in enumerate(operands) if each.base is each.number is None]
        places = [self._in_memory.get(key, -1) for key in memory]
        return (operands, places) if sorted(places) == taken else None

    def by_uid(
        self,
        memory: Mapping[Any, Any],
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> dict[int, Any]:
        """Addresses by unique id, and C variables for numbers; as `addresses` otherwise."""
        found, numbers = self.addresses(memory, shapes, check=check)
        for place, number in [*enumerate(self._numbers), *numbers.items()]:
            found[place] = found[place] if number is None else number
        return dict(zip(self.uids, found, strict=True))

    def _changed_numbers(self, found: list[Any]) -> dict[int, Any]:
        """Numbers that changed since the graph was built, by place."""
        numbers = {}
        for place, tensor, value in self._by_value:
            if tensor.value is not value:
                numbers[place] = number = host_value(tensor.value, tensor)
                found[place] = ctypes.addressof(number)
        return numbers

    def place_of(self, key: Any) -> int | None:
        """The place of an operand by what it is called; None to leave it out.

        Raises KeyError if there is none.
        """
        place = self._places.get(key)
        return self.unknown(key) if place is None else place

    def _check(self, value: Any, place: int, shapes: Mapping[int, Shape] | None) -> None:
        """Refuse memory that contradicts its tensor."""
        key = None if shapes else by_class.of(value).identity(value)
        fitting = self._fitting[place]
        if key is not None and key in fitting:
            return
        tensor, wanted = self.tensors[place], self._extents[place]
        if shapes and self.uids[place] in shapes:
            wanted = self.extent(with_shape(tensor, shapes))
        assert wanted is not None
        why = refusal(value, wanted)
        if why is not None:
            text = f"tensor {tensor.name!r} {wanted.shape} {why}{self.advice}"
            self.contradicted(text, value, wanted)
        if len(fitting) >= _MOST:
            fitting.clear()
        fitting.add(key)

    def _refuse_missing(self, found: Sequence[Any]) -> None:
        missing = ", ".join(
            f"{each.name!r} (uid {each.uid})"
            for each, address in zip(self.tensors, found, strict=True)
            if not address
        )
        raise self.error(f"no memory was given for {missing}")

    # --- what the front end does otherwise -------------------------------------------------------

    error: type[ValueError] = ValueError
    advice = "; check=False takes it as it is"

    @staticmethod
    def extent(operand: Tensor) -> Extent:
        """The extent that an operand's memory is held against."""
        return extent(operand)

    def contradicted(self, text: str, value: Any, wanted: Extent) -> None:
        """Raise for memory that contradicts its tensor, as `text` tells."""
        raise self.error(text)

    def unknown(self, key: Any) -> int | None:
        """The place of an operand that is not known by this key; None to leave it out.

        Raises KeyError if there is none.
        """
        tensor = find_tensor(key, dict(zip(self.uids, self.tensors, strict=True)))
        self._name()  # it was renamed after the graph was built
        self.renamed()
        return self._places[tensor]

    def number(self, value: Any, operand: Tensor) -> Any:
        """A number that was given for an operand by value, as a C variable."""
        return host_value(value, operand)

    def check_keys(self, memory: Mapping[Any, Any]) -> None:
        """Refuse an operand that is given twice. Not called with a key for each that is needed."""
        seen: set[int] = set()
        for key in memory:
            place = self._places.get(key)
            if place in seen:
                tensor = self.tensors[place]
                raise ValueError(f"tensor {tensor.name!r} (uid {tensor.uid}) is given twice")
            if place is not None:
                seen.add(place)


TorchRun = Callable[..., Any]
"""From the tensors that were given to the results; None if it must be done the long way."""


class Execution:
    """Carries out one plan with whatever a program calls its operands.

    - `known`: for memory in a ``dict`` that is checked, without `shapes`: try ``known.execute``
      first.
    """

    def __init__(self, plan: ExecutionPlan, operands: Operands) -> None:
        self._plan = plan
        self.operands = operands
        self.workspace_size: int = plan.workspace_size
        self.known: Executions = plan.executions()
        operands.renamed = self.known.clear

    def __call__(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> None:
        """Run the plan on the handle's stream; parameters and errors as for ``Graph.execute``.

        `shapes` are the dims and strides, by unique id, of operands that have others this time.
        """
        learns = type(memory) is dict and check and not shapes
        if learns and self.known.tried(handle, memory, workspace):  # type: ignore[arg-type]
            return
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        addresses, numbers = self.operands.addresses(memory, shapes, check=check)
        plan, uids = self._plan, self.operands.uids
        space = self.check_workspace(workspace)
        if plan.scratch or not plan.is_one_call or shapes or watched:
            by_uid = dict(zip(uids, addresses, strict=True))
            plan.execute(handle, by_uid, workspace, shapes=shapes)
            return
        packs = plan.packs(uids)
        packs.execute(handle, plan.descriptor, (*addresses, space), numbers)
        operands = self.operands.launched(memory) if learns and not numbers else None
        if operands is not None:
            self.known.learn(memory, workspace if space else None, packs, *operands)

    def bind(
        self,
        handle: Handle,
        memory: Mapping[Any, Any],
        workspace: Any,
        shapes: Mapping[int, Shape] | None = None,
        *,
        check: bool = True,
    ) -> BoundPlan:
        """The plan with these operands, which it keeps alive; parameters as for a call."""
        if gpus.ordinals:
            gpus.check_memory(handle, [*memory.items(), ("workspace", workspace)])
        by_uid = self.operands.by_uid(memory, shapes, check=check)
        bound = self._plan.bind(handle, by_uid, workspace, shapes=shapes)
        bound.operands = tuple(memory.values())
        return bound

    def torch_run(
        self,
        inputs: Sequence[Tensor | None],
        results: Sequence[ResultMemory],
        returned: Tensor | tuple[Tensor, ...],
        like: Any,
    ) -> TorchRun | None:
        """A function for runs on tensors of PyTorch alone like those of the one that was just made.

        The caller knows, by a key of its own, that shapes, strides, data types, GPU and alignment
        are those of that run. So nothing is looked at: results and workspace are allocated, and the
        plan is executed on a default handle in the order of PyTorch's current stream. None if a run
        needs other memory than that, or something is to be written there before.

        - `inputs`: tensors that the arguments of the function stand for; None is not looked at.
        - `results`: memory that is allocated, of which the function gives `returned`.
        - `like`: one on the GPU.
        """
        tensors = [
            *(each for each in inputs if each is not None),
            *(each.tensor for each in results),
        ]
        launched = self.operands.launched(dict.fromkeys(tensors))
        if launched is None or not self._plan.is_one_call:
            return None
        # Each address is that of the tensor at an index, and bytes behind it; or is a number alone.
        index = {place: i for i, place in enumerate(launched[1])}
        wanted: list[tuple[int | None, int]] = [
            (None, each.number)
            if each.number is not None
            else (index[place if each.base is None else each.base], each.offset)
            for place, each in enumerate(launched[0])
        ]
        forms, size, offsets = [each.torch_form() for each in results], self.workspace_size, {}
        if size:
            forms.append(pytorch.bytes_form(size))
            offsets = self._plan.scratch_offsets
            wanted += [(len(tensors), offset) for offset in offsets.values()]
        wanted.append((len(tensors) if size else None, 0))
        of_result = {id(each.tensor): i for i, each in enumerate(results)}
        several = (
            [of_result[id(each)] for each in returned] if isinstance(returned, tuple) else None
        )
        only = of_result[id(returned)] if several is None else 0
        descriptor, packs = self._plan.descriptor, self._plan.packs((*self.operands.uids, *offsets))
        ordinal, device, empty = like.get_device(), like.device, sys.modules["torch"].empty_strided
        is_used = [each is not None for each in inputs]

        def run(*given: Any) -> Any:
            if watched or descriptor.closed:
                return None
            made = [
                empty(shape, steps, dtype=dtype, device=device) for shape, steps, dtype in forms
            ]
            at = [each.data_ptr() for each in (*compress(given, is_used), *made)]
            key = tuple([number if i is None else at[i] + number for i, number in wanted])
            lent = taken(ordinal, pytorch.current_stream(ordinal))
            try:
                packs.execute(lent[0], descriptor, key)
            finally:
                give_back(ordinal, lent)
            return made[only] if several is None else tuple([made[i] for i in several])

        return run

    def check_workspace(self, workspace: Any) -> int:
        """The address of a workspace, which must be large enough; 0 if none is needed."""
        return self._plan.check_workspace(workspace)

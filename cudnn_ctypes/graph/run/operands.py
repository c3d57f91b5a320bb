"""From what a program calls its operands, and what it gives for them, to addresses in order."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...raw.memory import memory_pointer
from ...raw.typed_memory import by_class
from ...runtime.launching.executions import Operand
from .tensor_memory import Extent, Shape, extent, find_tensor, host_value, refusal, with_shape

if TYPE_CHECKING:
    from ..describe.tensor import Tensor

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

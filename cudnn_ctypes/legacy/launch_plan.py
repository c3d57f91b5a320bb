"""Plans: recorded launches, run for any arguments of their key or compiled for arguments alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..raw import log, mode
from ..raw.bare import watched
from ..raw.compiled_functions import function_of
from ..runtime import DeviceTensor, copy, pytorch
from ..runtime.allocation import Allocation
from ..runtime.new_tensors import tensor_maker
from .launch_calls import Call, FilledCall, make_call, recorded_call
from .launch_checks import Checks
from .launch_keys import Look, NoKey
from .launch_source import launch_source
from .recording import Launcher, Recording
from .stream_launcher import StreamLauncher

__all__ = ["OTHER", "Plan", "fill"]

OTHER = object()
"""The result of a compiled launch whose arguments are others: nothing was launched."""


class Plan:
    """The C calls of one key, with gaps for what differs from call to call.

    Attributes
    ----------
    calls : list of Call
    returns : callable
        From the results that are made and the arguments to what the operation returns.
    """

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, recording.arguments
        self.on_host: bool = handle.on_reference_device
        self._ordinal = handle.launch_key if isinstance(handle, StreamLauncher) else None
        self._device = None if self.on_host else handle.device.device_id
        self._makes = bool(recording.made)
        self._make = tensor_maker([(each.keyed()[0], each._form()) for each in recording.made])
        self.scratch_sizes: list[int] = [each.nbytes for each in recording.scratch]
        self._zeroed = [
            (position, each.nbytes)
            for position, each in enumerate((*recording.made, *recording.scratch))
            if any(each is zeroed for zeroed in recording.zeroed)
        ]
        places = recording.places()
        self.calls: list[Call] = [
            recorded_call(recording, places, function, arguments)
            for function, arguments in recording.calls
        ]
        self._stream = handle.stream_pointer if recording.constants else None
        self._torch = any(pytorch.is_torch(type(value)) for value in given.values())
        self._kinds: dict[str, Any] = {"_new": tuple.__new__}
        self._result = self._returning(recording, recording.written(), result)
        self.returns: Callable[..., Any] = function_of(
            f"def returns(_made, {', '.join(given)}): return {self._result}", "a plan", self._kinds
        )
        self._stack = recording.stack

    def _returning(self, recording: Recording, written: set[str], result: Any) -> str:
        """The operation's result, as an expression of new tensors and the arguments."""
        if result is None:
            return "None"
        if isinstance(result, tuple):
            parts = [self._returning(recording, written, part) for part in result]
            kind = f"_kind{len(self._kinds)}"
            self._kinds[kind] = type(result)
            return f"_new({kind}, ({''.join(f'{part}, ' for part in parts)}))"
        for position, made in enumerate(recording.made):
            if result is made:
                return f"_made[{position}]"
        # In place a result is an operand too, and other calls need not be in place.
        for name in sorted(recording.arguments, key=lambda name: name not in written):
            if result is recording.arguments[name]:
                return name
        raise NoKey

    def fits(self, launcher: Launcher) -> bool:
        """Whether the plan is for the launcher's device, and for the stream that it needs."""
        return mode.reference_device_active is self.on_host and (
            self._stream is None or self._stream == launcher.stream_pointer
        )

    def compiled(
        self,
        given: dict[str, Any],
        seen: Sequence[Look],
        looked_at: Callable[..., list[Any]],
        *,
        by_alignment: bool,
    ) -> Callable[..., Any]:
        """The plan as a function of a launcher and its arguments: see `launch_source`.

        It returns `OTHER` for arguments that are not like these, and while calls are watched.

        Parameters
        ----------
        given : dict
            Arguments by name, of which it keeps none that is memory.
        seen : sequence of Look
            Their looks.
        looked_at : callable
            From the launcher and arguments to the pointers that C receives, for messages.
        by_alignment : bool
            Whether the alignment of addresses matters.
        """
        checks = Checks(given, seen, by_alignment=by_alignment)
        follows = self._torch and self._device is not None
        conditions = ["_mode.reference_device_active is not _on_host or _watched"]
        if self._stream is not None:
            conditions.append("_launcher.stream_pointer != _stream")
        if self._ordinal is not None:
            conditions.append("_launcher.launch_key != _ordinal")
        names = list(given)
        source = launch_source(
            names,
            conditions=[*conditions, *checks.conditions],
            at=checks.at,
            follows=follows,
            makes=self._makes,
            scratch=len(self.scratch_sizes),
            zeroed=[position for position, _ in self._zeroed],
            calls=[
                [*call.expressions(f"_argument{i}_", names)] for i, call in enumerate(self.calls)
            ],
            result=self._result,
        )

        def settle(
            index: int, code: int, launcher: Launcher, given: Any, made: Any, scratch: Any
        ) -> None:
            values = _values(launcher, looked_at(launcher, given), made, scratch)
            function, _, arguments = [*self.filled(values, checked=True)][index]
            function._binding.settle(code, tuple(arguments))

        scope: dict[str, Any] = {
            "_mode": mode,
            "_on_host": self.on_host,
            "_watched": watched,
            "_stream": self._stream,
            "_ordinal": self._ordinal,
            "_OTHER": OTHER,
            "_NoKey": NoKey,
            "_current": pytorch.streams() if follows else None,
            "_follow": pytorch.follow,
            "_device": self._device,
            "_make": self._make,
            "_sizes": self.scratch_sizes,
            "_fill": fill,
            "_zeros": [nbytes for _, nbytes in self._zeroed],
            "_logged": log.logged,
            "_forget": log.forget,
            "_settle": settle,
            **self._kinds,
            **checks.scope,
        }
        for i, call in enumerate(self.calls):
            scope |= {f"_call{i}": call.symbol, **call.constants(f"_argument{i}_")}
        return function_of(source, "a plan", scope)

    def run(self, launcher: Launcher, at: Sequence[Any], given: Sequence[Any]) -> Any:
        """Launch with any arguments of the key; `at` are the pointers that C receives for them."""
        scratch = [launcher.workspace(size, i) for i, size in enumerate(self.scratch_sizes)]
        made, values = self.fill(launcher, at, scratch)
        try:
            self.follow(launcher)
            for memory, nbytes in self.zeroed(made, scratch):
                fill(memory, nbytes, launcher.stream)
            for function, callee, arguments in self.filled(values, checked=bool(watched)):
                make_call(function, callee, arguments)
        except BaseException:
            for tensor in made:
                tensor.close()
            raise
        return self.returns(made, *given)

    def fill(
        self, launcher: Launcher, at: Sequence[Any], scratch: Sequence[Allocation]
    ) -> tuple[Sequence[DeviceTensor], dict[str, Any]]:
        """The results that are made for a launch, and what fills the gaps of its calls.

        Parameters
        ----------
        at
            What C is given of the arguments.
        scratch : sequence of Allocation
            The workspaces, one for each of `scratch_sizes`.
        """
        made, _ = self._make(launcher.allocator)
        return made, _values(launcher, at, made, scratch)

    def zeroed(
        self, made: Sequence[DeviceTensor], scratch: Sequence[Allocation]
    ) -> list[tuple[Allocation, int]]:
        """Memory to fill with zeros before the calls, and the number of bytes."""
        blocks = [*(tensor._memory for tensor in made), *scratch]
        return [(blocks[position], nbytes) for position, nbytes in self._zeroed]

    def filled(self, values: dict[str, Any], *, checked: bool) -> Iterator[FilledCall]:
        """The C calls with their gaps filled, for ``raw`` or for C itself."""
        return (call.filled(values, checked=checked) for call in self.calls)

    def follow(self, launcher: Launcher) -> None:
        """Have the launcher's stream wait for what others have under way with the operands."""
        if self._torch and self._device is not None:
            pytorch.follow(self._device, launcher.stream_pointer)

    def __del__(self) -> None:
        # When the interpreter has taken the module's names away, all is closed.
        if log is not None and hasattr(self, "_stack"):
            with log.set_aside():
                self._stack.close()


def _values(
    launcher: Launcher, at: Sequence[Any], made: Sequence[DeviceTensor], scratch: Sequence[Any]
) -> dict[str, Any]:
    """Values for the gaps of calls: see `Place`."""
    to = [tensor._as_parameter_ for tensor in made]
    spaces = [block.pointer for block in scratch]
    return {"at": at, "to": to, "scratch": spaces, "handle": launcher._as_parameter_}


def fill(memory: Allocation, nbytes: int, stream: Any) -> None:
    """Put zeros in memory, in the order of a stream."""
    copy.fill(memory, b"\0", 0, nbytes, stream=stream)

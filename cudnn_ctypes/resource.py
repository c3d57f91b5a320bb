"""Ownership of C objects: ``close``, ``with``, and the clean-up of unclosed objects."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import traceback
import tracemalloc
import warnings
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from .errors import CleanUpWarning, ClosedError, UnclosedWarning
from .raw import log, process

if TYPE_CHECKING:
    from typing_extensions import Self

_H = TypeVar("_H")


class Closing:
    """Base of classes with `close`: the end of a ``with`` block closes them."""

    __slots__ = ()

    def close(self) -> None:
        """Let go of what the object owns. A second call does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class Uncopied:
    """Base of owning classes: a copy would own the same object again, so copying is refused.

    Subclasses name an alternative in `_instead`.
    """

    __slots__ = ()
    _instead: ClassVar[str] = "create another one"

    def __copy__(self) -> Self:
        raise TypeError(f"a {type(self).__name__} cannot be copied: {self._instead}")

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled, it means nothing in another process: "
            f"{self._instead}"
        )


class _Closed:
    """The handle of a closed object: reading it raises `ClosedError`."""

    def __get__(self, owner: object, kind: type) -> NoReturn:
        if owner is None:
            raise AttributeError(f"class {kind.__name__!r} has no attribute '_as_parameter_'")
        raise ClosedError(f"this {kind.__name__} is closed")


class Resource(Closing, Uncopied, Generic[_H]):
    """The owner of one C handle.

    Parameters
    ----------
    handle
        A created raw handle. Raw functions use it when they receive this object.
    destroy
        Called with `handle`, once.
    parents
        Resources that must outlive this one. Its finalizer keeps them alive, so an unclosed child
        is destroyed before its parents, also in a collected cycle and at exit. A parent may refer
        to its children only weakly: else they would keep each other alive until exit.
    """

    if not TYPE_CHECKING:
        # Python finds this after close() removed the object's own attribute. A `__getattr__` would
        # make all attributes slow.
        _as_parameter_ = _Closed()

    # Whether destroying the C object waits for calls in other threads that use it.
    _waits: ClassVar[bool] = False

    def __init__(
        self, handle: _H, destroy: Callable[[_H], object], *, parents: Iterable[object] = ()
    ) -> None:
        # ctypes reads this attribute; close() deletes it. If calls are waited for, this is the only
        # reference to the handle object here, so a running call holds the last reference.
        self._as_parameter_ = handle
        self._destroy = functools.partial(destroy, _copy(handle) if self._waits else handle)
        self._finalizer = weakref.finalize(
            self,
            _clean_up,
            weakref.ref(self),
            self._destroy,
            type(self).__name__,
            _origin(),
            tuple(parents),
        )

    @property
    def closed(self) -> bool:
        return "_as_parameter_" not in self.__dict__

    def close(self) -> None:
        """Destroy the C object. A second call does nothing.

        For a `Handle` and a backend descriptor, this is delayed until C calls that use it in other
        threads have returned. New calls see a closed object at once.

        Raises
        ------
        CudnnError
            If cuDNN refuses.
        """
        try:
            handle = self.__dict__.pop("_as_parameter_")
        except KeyError:
            return
        in_use = weakref.ref(handle) if self._waits else None
        del handle
        for pointers in self.__dict__.pop("_pointers", ()):
            pointers.close()
        # Parents stay alive until the child is destroyed.
        kept = self._finalizer.detach()
        if kept is None:  # both are garbage: its finalizer destroys it
            return
        user = None if in_use is None else in_use()
        if user is None:
            self._destroy()
            return
        name = type(self).__name__
        late = weakref.finalize(user, _destroy_late, self._destroy, name, kept)
        late.atexit = False  # the call may never return


class Pointers:
    """The handles of several resources, as arguments of C, until the first of them is closed.

    - `resources`: in C's order.

    - `arguments`: look it up at each call; a call that is running keeps what it needs alive.
    - `closed`, `busy`: for machine code: not 0 once one is closed; how many calls are running,
      which keep nothing alive. After them `let_go` is called.

    Raises ClosedError if one is closed already.
    """

    __slots__ = ("__weakref__", "_held", "arguments", "busy", "closed")

    def __init__(self, *resources: Resource[Any]) -> None:
        self.closed: ctypes.c_ssize_t = ctypes.c_ssize_t()
        self.busy: ctypes.c_ssize_t = ctypes.c_ssize_t()
        self._held: Any = None
        for each in resources:
            vars(each).setdefault("_pointers", weakref.WeakSet()).add(self)
        self.arguments: tuple[Any, ...] = tuple(each._as_parameter_ for each in resources)
        if any(each.closed for each in resources):  # by another thread, meanwhile
            self.close()

    def close(self) -> None:
        """Take the arguments away; they are closed, or about to be."""
        self.closed.value = 1
        with contextlib.suppress(AttributeError):
            if self.busy.value:
                self._held = self.arguments
            del self.arguments

    def let_go(self) -> None:
        """Have what was closed during a call destroyed."""
        if not self.busy.value:
            self._held = None


def _copy(handle: Any) -> Any:
    """Another Python object for the same C handle."""
    copy = type(handle)()
    copy.value = handle.value
    return copy


def _destroy_late(destroy: Callable[[], object], name: str, kept: object) -> None:
    try:
        with log.set_aside():
            destroy()
    except Exception as error:
        message = f"error while destroying a {name} that was closed during a call: {error}"
        warnings.warn(message, CleanUpWarning, stacklevel=2)


_PACKAGE = str(Path(__file__).parent)


def _origin() -> str:
    """The user's stack as text, as deep as tracemalloc's limit; "" if tracemalloc is off."""
    if not tracemalloc.is_tracing():
        return ""
    frames = [frame for frame in traceback.extract_stack() if _PACKAGE not in frame.filename]
    wanted = frames[-tracemalloc.get_traceback_limit() :]
    return "\ncreated at:\n" + "".join(traceback.format_list(wanted)).rstrip()


def _clean_up(
    owner: weakref.ref[Resource[Any]],
    destroy: Callable[[], object],
    name: str,
    origin: str,
    parents: tuple[object, ...],
) -> None:
    living = owner()
    if living is not None:  # at exit
        vars(living).pop("_as_parameter_", None)
    if not process.exiting():
        warnings.warn(f"unclosed {name}{origin}", UnclosedWarning, stacklevel=2)
    try:
        with log.set_aside():
            destroy()
    except Exception as error:
        warnings.warn(
            f"error while cleaning up an unclosed {name}: {error}", CleanUpWarning, stacklevel=2
        )

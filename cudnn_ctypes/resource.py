"""Ownership of what C creates: close, with, clean-up of the forgotten."""

from __future__ import annotations

import atexit
import contextlib
import functools
import traceback
import tracemalloc
import warnings
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from .errors import CleanUpWarning, ClosedError, UnclosedWarning
from .raw import log

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Pointers", "Resource", "Uncopied"]

_H = TypeVar("_H")


class Uncopied:
    """Base of what owns something: a copy would own it a second time, so copying is refused.

    Subclasses say in `_instead` what to do.
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
    """What the handle of a closed object is."""

    def __get__(self, owner: object, kind: type) -> NoReturn:
        if owner is None:
            raise AttributeError(f"class {kind.__name__!r} has no attribute '_as_parameter_'")
        raise ClosedError(f"this {kind.__name__} is closed")


class Resource(Uncopied, Generic[_H]):
    """The owner of one C handle.

    Parameters
    ----------
    handle
        A created raw handle. It is what raw functions receive when they are given this object.
    destroy
        Called with `handle`, once.
    parents
        Resources that must outlive this one. They are kept alive by its finalizer, so that a
        forgotten child goes before its parents, in a collected cycle and at exit too. A parent
        must not refer to its children but weakly: they would keep each other until exit.
    """

    if not TYPE_CHECKING:
        # Found where the object's own was taken away. A `__getattr__` makes all attributes slow.
        _as_parameter_ = _Closed()

    # Whether the C object is destroyed only after the calls that use it, in other threads.
    _waits: ClassVar[bool] = False

    def __init__(
        self, handle: _H, destroy: Callable[[_H], object], *, parents: Iterable[object] = ()
    ) -> None:
        # ctypes reads this attribute; close() deletes it. Where calls are waited for, nothing else
        # here refers to this object, so that a call that is running is the last that does.
        self._as_parameter_ = handle
        self._destroy = functools.partial(destroy, _copy(handle) if self._waits else handle)
        self._finalizer = weakref.finalize(
            self, _clean_up, self._destroy, type(self).__name__, _origin(), tuple(parents)
        )
        _note_exit()

    @property
    def closed(self) -> bool:
        return "_as_parameter_" not in self.__dict__

    def close(self) -> None:
        """Destroy the C object. A second call does nothing.

        For a `Handle` and a backend descriptor, that is put off while another thread is in a C call
        with it, until the call returns. It is closed for others all the same.

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
        if kept is None:  # the interpreter exits, and has destroyed it
            return
        user = None if in_use is None else in_use()
        if user is None:
            self._destroy()
            return
        name = type(self).__name__
        late = weakref.finalize(user, _destroy_late, self._destroy, name, kept)
        late.atexit = False  # the call may never return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class Pointers:
    """The handles of several resources, as arguments of C, until the first of them is closed.

    Parameters
    ----------
    resources : Resource
        In C's order.

    Attributes
    ----------
    arguments : tuple
        Look it up at each call; a call that is running keeps what it needs alive.

    Raises
    ------
    ClosedError
        If one is closed already.
    """

    __slots__ = ("__weakref__", "arguments")

    def __init__(self, *resources: Resource[Any]) -> None:
        for each in resources:
            vars(each).setdefault("_pointers", weakref.WeakSet()).add(self)
        self.arguments: tuple[Any, ...] = tuple(each._as_parameter_ for each in resources)
        if any(each.closed for each in resources):  # by another thread, meanwhile
            self.close()

    def close(self) -> None:
        """Take the arguments away; they are closed, or about to be."""
        with contextlib.suppress(AttributeError):
            del self.arguments


def _copy(handle: Any) -> Any:
    """Another object for the same C handle."""
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


_exiting = False


@functools.cache
def _note_exit() -> None:
    # Registered after weakref's own exit hook, so it runs before that.
    def exiting() -> None:
        global _exiting
        _exiting = True

    atexit.register(exiting)


_PACKAGE = str(Path(__file__).parent)


def _origin() -> str:
    """Where the user's code is now, if tracemalloc asks for places; as deep as it asks for."""
    if not tracemalloc.is_tracing():
        return ""
    frames = [frame for frame in traceback.extract_stack() if _PACKAGE not in frame.filename]
    wanted = frames[-tracemalloc.get_traceback_limit() :]
    return "\ncreated at:\n" + "".join(traceback.format_list(wanted)).rstrip()


def _clean_up(
    destroy: Callable[[], object], name: str, origin: str, parents: tuple[object, ...]
) -> None:
    if not _exiting:
        warnings.warn(f"unclosed {name}{origin}", UnclosedWarning, stacklevel=2)
    try:
        with log.set_aside():
            destroy()
    except Exception as error:
        warnings.warn(
            f"error while cleaning up an unclosed {name}: {error}", CleanUpWarning, stacklevel=2
        )

"""The C functions without checks, for the few places where the cost of a call counts.

A call takes a quarter of the time of one through ``raw``: neither the arguments nor the status are
checked. So the caller must pass exact ctypes objects, ``bytes``, objects with an
``_as_parameter_``, or, for C's ``int`` alone, ints. The caller must use ``raw`` instead whenever
`watched` is not empty: then the reference device, for instance, must see the calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import SymbolNotFoundError
from . import library
from .function import binding, watched


class _Bare:
    """``bare.cudnnX``: bound when it is first used, as ``raw.cudnnX`` is."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., int]: ...

    else:

        def __getattr__(self, name):
            if not name.startswith("cudnn"):
                raise AttributeError(name)
            known = binding(name)
            try:
                function = library.load().symbol(name, since=known.since, header=known.header)
            except SymbolNotFoundError:
                if name in watched:  # the reference device has it
                    return known.checked
                raise
            function.restype = ctypes.c_int
            function = known.wrapped(function)
            setattr(self, name, function)
            return function


bare: _Bare = _Bare()

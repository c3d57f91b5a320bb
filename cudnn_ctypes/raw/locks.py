"""The locks of this package, which a forked child finds free, whoever held them in its parent.

A child has one thread only. A lock that another thread of the parent held would never be released
in it. What such a lock protects is changed in steps of which each leaves it usable.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["in_a_child", "new_lock", "new_reentrant_lock"]

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_rules: list[Callable[[], object]] = []


def new_lock() -> threading.Lock:
    """A lock."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def new_reentrant_lock() -> threading.RLock:
    """A lock that its owner may take again; the thread that forks keeps it in the child."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def in_a_child(rule: Callable[[], object]) -> None:
    """Have `rule` called in each forked child, after the locks are free."""
    _rules.append(rule)


def _begin_child() -> None:
    for lock in list(_locks):
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()
    if sys.version_info < (3, 12):  # its cached properties have locks, too
        for name, module in list(sys.modules.items()):
            if name.startswith("cudnn_ctypes."):
                _free_properties(module)
    for rule in _rules:
        rule()


def _free_properties(module: Any) -> None:
    for each in list(vars(module).values()):
        if isinstance(each, type) and each.__module__ == module.__name__:
            for value in vars(each).values():
                if isinstance(value, functools.cached_property):
                    vars(value)["lock"] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)

"""The warning that every old name gives once."""

from __future__ import annotations

import warnings

from ..errors import CudnnWarning

__all__ = ["OldNameWarning", "forget_warned", "warn_once"]


class OldNameWarning(CudnnWarning, DeprecationWarning):
    """A program used a name that cuDNN or a wrapper had once; the text tells the modern form."""


_warned: set[str] = set()


def warn_once(name: str, text: str, stacklevel: int = 2) -> None:
    """Warn of an old name, at its first use in this process.

    Parameters
    ----------
    name : str
        What is warned of once; with the name of its module.
    text : str
        The modern form.
    stacklevel : int
        As for `warnings.warn`, counted from the caller of this function.
    """
    if name not in _warned:
        _warned.add(name)
        warnings.warn(text, OldNameWarning, stacklevel=stacklevel + 1)


def forget_warned() -> None:
    """Warn of every name again: for tests."""
    _warned.clear()

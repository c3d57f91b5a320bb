"""Old names over cuDNN 9: programs written for them run with the import line changed.

`v7` has the C functions, enumerators and types that cuDNN 2 to 8 had and 9 has not.

Each old name warns once in a process, with an `OldNameWarning` that tells the modern form.
"""

from __future__ import annotations

import warnings

from ...errors import CudnnWarning


class OldNameWarning(CudnnWarning, DeprecationWarning):
    """A program used a name that cuDNN or a wrapper had once; the text has the modern form."""


_warned: set[str] = set()


def warn_once(name: str, text: str, stacklevel: int = 2) -> None:
    """Warn of an old name, at its first use in this process.

    - `name`: the name to warn of once, with its module.
    - `text`: the modern form.
    - `stacklevel`: the level for `warnings.warn`, counted from the caller of this function.
    """
    if name not in _warned:
        _warned.add(name)
        warnings.warn(text, OldNameWarning, stacklevel=stacklevel + 1)

"""Errors for names that layer 1 lacks: they name the replacement, or names spelled alike."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MissingNameError", "explanation", "importing_error", "near"]


class MissingNameError(AttributeError):
    """A name that layer 1 lacks. Its text is built when it is shown, so ``hasattr`` stays fast."""

    def __init__(self, name: str) -> None:
        # Python would add a suggestion from the attributes of `obj`; None prevents that.
        super().__init__(name, name=name, obj=None)

    def __str__(self) -> str:
        return explanation(self.args[0])


def importing_error(module: str, name: str) -> ImportError:
    """The error for ``from module import name``."""
    return ImportError(
        f"cannot import name {name!r} from {module!r}: {explanation(name)}", name=module
    )


def explanation(name: str) -> str:
    """Text on why layer 1 has no `name`, with the replacement."""
    from .constants import CUDNN_VERSION
    from .gone import find
    from .library import version_text

    if gone := find(name):
        programs = "Programs for cuDNN 7 and 8 run with cudnn_ctypes.compat.v7 in place of raw."
        return f"{gone}\n{programs}" if gone.gone >= "8" else str(gone)
    text = f"{name!r} is not in the headers of cuDNN {version_text(CUDNN_VERSION)}"
    suggested = near(name)
    return f"{text}; did you mean {' or '.join(suggested)}?" if suggested else text


def near(name: str, more: Iterable[str] = ()) -> list[str]:
    """Up to three names of layer 1, or of `more`, that are spelled like `name`.

    Dropped names are suggested if no present name is spelled like it.
    """
    import difflib

    from .. import raw
    from .gone import gone_names

    for candidates in ((*more, *vars(raw)["__all__"]), gone_names()):
        cases = {each.lower(): each for each in candidates}
        if found := difflib.get_close_matches(name.lower(), cases, n=3, cutoff=0.8):
            return [cases[each] for each in found]
    return []

"""Pages of the site about releases of cuDNN and about statuses, from the declarations."""

from __future__ import annotations

from cudnn_ctypes import raw
from cudnn_ctypes.errors import error_class
from cudnn_ctypes.raw.gone import OLD_STATUS_NUMBERS
from cudnn_ctypes.raw.hints import usual_cause
from cudnn_ctypes.raw.origins import SINCE

from .page_parts import grid, write

__all__ = ["write_statuses", "write_versions"]


def write_versions() -> None:
    """What each release of cuDNN 9 added, as the declarations state."""
    added: dict[tuple[int, ...], dict[str, list[str]]] = {}

    def note(since: str, kind: str, text: str) -> None:
        release = tuple(map(int, since.split(".")))
        added.setdefault(release, {}).setdefault(kind, []).append(text)

    for name, function in raw.FUNCTIONS.items():
        note(function.since, "functions", f"[`{name}`](c/{name}.md)")
    for name, since in SINCE.items():
        kind = "enumerators" if name.startswith("CUDNN_") else "types"
        note(since, kind, f"`{name}`")
    names = {".".join(map(str, each)): added[each] for each in sorted(added)}
    counted = grid(
        ("cuDNN", "functions", "types", "enumerators"),
        (
            (
                release,
                *(
                    str(len(kinds.get(kind, ())) or "")
                    for kind in ("functions", "types", "enumerators")
                ),
            )
            for release, kinds in names.items()
        ),
    )
    parts = [
        "# What each cuDNN added",
        "What cuDNN 9 has, by the first release that had it, as the declarations state, which are "
        "compared with the headers of older releases.",
        counted,
    ]
    for release in sorted(added):
        parts.append(f"## cuDNN {'.'.join(map(str, release))}")
        parts += [
            f"{kind.capitalize()}: {', '.join(each)}." for kind, each in added[release].items()
        ]
    write("versions.md", *parts)


def write_statuses() -> None:
    """All statuses, with the exceptions that stand for them."""
    old = {name: str(number) for number, name in OLD_STATUS_NUMBERS.items()}
    rows: dict[str, list[tuple[str, str, str, str]]] = {}
    for name, status in raw.cudnnStatus_t.__members__.items():
        error = error_class(status).__name__ if int(status) else "Success"
        row = (f"`{name}`", str(int(status)), old.get(name, ""), usual_cause(name))
        rows.setdefault(error, []).append(row)
    parts = [
        "# Statuses",
        "Each status by the exception that it is raised as, with the number that it had before "
        "cuDNN 9.0, and the usual cause, where there is one. "
        "[Errors from A to Z](../errors.md) has those of each exception.",
    ]
    head = ("status", "number", "before 9.0", "usual cause")
    for error, found in rows.items():
        parts.append(f"## [{error}](api/{error}.rst)" if error != "Success" else f"## {error}")
        columns = [each for each in zip(head, *found, strict=True) if any(each[1:])]
        shown, *rest = zip(*columns, strict=True)
        parts.append(grid(shown, rest))
    write("statuses.md", *parts)

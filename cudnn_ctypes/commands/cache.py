"""``cache``: what the plan cache on disk holds; clear it, or merge results of autotuning."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..evidence.files import CommandError, read_text
from ..graph.engines.cache.plan_cache import CacheEntry, PlanCache
from ..graph.engines.explaining.report import bytes_text
from ..raw.describe import aligned
from ..raw.library import version_text
from .options import Output, add_force, file_name, write_text

_COLUMNS = ("kind", "graph", "engine", "device", "cuDNN", "bytes", "made", "used")
_RIGHT = ("bytes", "made", "used")
_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes cache``."""
    parser.add_argument(
        "folder",
        nargs="?",
        help="by default that of CUDNN_CTYPES_CACHE, else that of Graph.build(cache=True)",
    )
    parser.add_argument("--clear", action="store_true", help="remove all entries")
    parser.add_argument(
        "--export", type=Output, metavar="FILE", help="write all results of autotuning to a file"
    )
    add_force(parser)
    parser.add_argument(
        "--merge",
        nargs="+",
        default=[],
        type=file_name,
        metavar="FILE",
        help="take over what --export wrote, here or on another machine",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def main(arguments: argparse.Namespace) -> int:
    """Show or clear the cache; 0 if that worked, 2 if the folder cannot be used."""
    if arguments.clear and (arguments.merge or arguments.export is not None):
        raise CommandError("--clear goes alone, without --export and --merge")
    cache = PlanCache(arguments.folder)
    if arguments.clear or arguments.merge or arguments.export is not None:
        _change(cache, arguments)
        return 0
    entries = cache.entries()
    size = sum(each.size for each in entries)
    if arguments.json:
        content = {
            "folder": str(cache.folder),
            "limit": cache.limit,
            "size": size,
            "entries": [asdict(each) for each in entries],
        }
        print(json.dumps(content, indent=2))
        return 0
    print(
        f"{cache.folder}: {_counted(len(entries))}, {bytes_text(size)} of at most "
        f"{bytes_text(cache.limit)} bytes"
    )
    if entries:
        print(aligned([_COLUMNS, *(_cells(each, time.time()) for each in entries)], _RIGHT))
    return 0


def _change(cache: PlanCache, arguments: argparse.Namespace) -> None:
    """Clear the cache, or merge tunings into it and then export them."""
    done: list[dict[str, Any]] = []

    def tell(what: str, count: int, path: Path) -> None:
        done.append({"done": what, "entries": count, "path": str(path)})
        if not arguments.json:
            print(f"{_counted(count)} {what} {path}")

    try:
        if arguments.clear:
            tell("removed from", cache.clear(), cache.folder)
            return
        for path in arguments.merge:
            try:
                tell("taken over from", cache.merge_tunings(read_text(path)), path)
            except ValueError as error:
                raise CommandError(f"{path}: {error}") from None
        if arguments.export is not None:
            target, text = arguments.export.file("tunings.json"), cache.export_tunings()
            write_text(target, text, force=arguments.force)
            tell("written to", len(json.loads(text)["tunings"]), target)
    finally:
        if arguments.json:
            print(json.dumps(done, indent=2))


def _counted(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _cells(entry: CacheEntry, now: float) -> list[str]:
    damaged = entry.kind == "damaged"
    return [
        entry.kind,
        entry.graph,
        entry.engine,
        entry.device,
        "" if damaged else version_text(entry.cudnn),
        bytes_text(entry.size),
        "" if damaged else _age(now - entry.made),
        _age(now - entry.used),
    ]


def _age(seconds: float) -> str:
    """An age as text, "3 h", in the largest unit that fits at least once."""
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return "0 s"

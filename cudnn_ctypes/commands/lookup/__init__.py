"""``lookup``: what a name of cuDNN means, or what replaced it; also words, statuses,
misspellings.
"""

from __future__ import annotations

import argparse
import json

from ...evidence.known_faults import known_faults
from .entries import find
from .entry import Entry
from .explanations import mentioning
from .report import print_entry, print_found
from .words import named, near

__all__ = ["Entry", "add_arguments", "find", "main", "named", "near"]

_SHOWN = 40  # names printed for a query of words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes lookup``."""
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="a function, type, enumerator, macro, backend attribute (tensor.data_type), status "
        "(2000), exception, class, method (Graph.sdpa), a name of an older cuDNN, a known fault by "
        "its name, issue (pytorch 196678) or words (known fault relu), or words (pooling backward)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def main(arguments: argparse.Namespace) -> int:
    """Print the entries of each name; 0 if all were found, 1 if not."""
    queries = _queries(arguments.names)
    results = [(query, *_answer(query)) for query in queries]
    if arguments.json:
        print(json.dumps([_as_dict(*result) for result in results], indent=2))
    else:
        for query, entries, found, like in results:
            for entry in entries:
                print_entry(entry)
            if not entries:
                print_found(query, found[:_SHOWN], len(found), like)
    missed = [query for query, entries, found, _ in results if not entries and not found]
    return 1 if missed else 0


def _queries(names: list[str]) -> list[str]:
    """The names; or all joined to one query, if they are words and some of them have no entry."""
    plain = all(name.isalpha() and not _is_name(name) for name in names)
    joined = " ".join(names)
    if len(names) > 1 and (find(joined) or (plain and not all(find(name) for name in names))):
        return [joined]
    return names


def _answer(query: str) -> tuple[list[Entry], list[str], list[str]]:
    """The entries for a query, or the names with its words, or names spelled like it."""
    if entries := find(query):
        return entries, [], []
    if _is_name(query) and (like := near(query)):
        return [], [], like
    found = [*named(query)] or [name for name in mentioning(_plain(query)) if find(name)]
    operation = f"Graph.{query}"
    if query.isidentifier() and find(operation):
        found.insert(0, operation)
    found += [row.name for row in known_faults() if row.mentions(_plain(query))]
    if len(found) == 1:
        return find(found[0]), [], []
    return [], found, [] if found else near(query)


def _plain(query: str) -> list[str]:
    return [word for word in query.lower().split() if any(map(str.isalnum, word))]


def _is_name(query: str) -> bool:
    """Whether a query is written like a name rather than words."""
    return "." in query or query.lower().startswith("cudnn")


def _as_dict(
    query: str, entries: list[Entry], found: list[str], like: list[str]
) -> dict[str, object]:
    return {
        "query": query,
        "entries": [entry.as_dict() for entry in entries],
        "found": found,
        "near": like,
    }

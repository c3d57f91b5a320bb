"""``lookup``: what a name of cuDNN means, or what replaced it; also words, statuses,
misspellings.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import itertools
import json
import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import cudnn_ctypes

from ...evidence.known_faults import known_faults
from ...evidence.quotations import quoted_engines, quoted_graphs
from ...raw.gone import gone_names
from ...raw.headers import include_folder
from ..options import evidence_in
from .entries import (
    Entry,
    all_names,
    find,
    glossary,
    mentioning,
    name_words,
    named,
    near,
    signature,
    terms,
)


def quotations(text: str) -> list[Entry]:
    """The entries for an error's text, and for the graphs and engines that it quotes."""
    return [*_messages(text), *_graphs(text), *_engines(text)]


@functools.cache
def known_messages() -> list[dict[str, Any]]:
    """The patterns of messages of frameworks, with what each says."""
    text = Path(__file__).with_name("messages.json").read_text("utf-8")
    return list(json.loads(text))


def _messages(text: str) -> Iterator[Entry]:
    for row in known_messages():
        if re.search(row["pattern"], text):
            yield Entry(row["name"], "message", row["says"], {"names": row["names"]})


def _graphs(text: str) -> Iterator[Entry]:
    for operations in quoted_graphs(text):
        told = f"Its operations: {', '.join(operations)}."
        if operations.count("matmul") > 1 and "exp" in operations:
            told += "\nTwo products with a softmax between: attention, Graph.sdpa."
        told += (
            "\nThe message has no shapes. CUDNN_LOGLEVEL_DBG=3 CUDNN_LOGDEST_DBG=cudnn.log has "
            "the program log them, and explain cudnn.log says what each engine refuses."
        )
        methods = [f"Graph.{each}" for each in dict.fromkeys(operations)]
        yield Entry("_".join(operations), "graph", told, {"operations": methods})


def _engines(text: str) -> Iterator[Entry]:
    for engine, knobs in quoted_engines(text):
        told = "\n".join(f"{name}  {value}" for name, value in knobs.items()) or "No knobs."
        told += "\nThe numbers mean something for one graph, cuDNN and GPU: explain shows them all."
        names = [f"CUDNN_KNOB_TYPE_{name.upper()}" for name in knobs if not name.isdecimal()]
        facts = {"engine": engine, "knobs": knobs}
        yield Entry(f"engine {engine}", "engine config", told, {"knob types": names}, facts)


# Words of questions that say nothing about what is asked.
_COMMON = frozenset(
    """
    a about an and are as at be by can cannot cudnn do does for from have how i if in into is it its
    make makes me mean means my need not of off on one or program see should show tell that the them
    there this to turn use want what when where which who why will with would you
    """.split()  # noqa: SIM905
)
_BEST = 8  # names with the words of a question that are told
_NEAR = 0.8  # the part of the best score that a name needs


def is_question(query: str) -> bool:
    """Whether a query is said in a sentence, by words such as how and the."""
    return " " in query.strip() and not _COMMON.isdisjoint(query.lower().split())


def subject(question: str) -> str:
    """The words of a question that say what is asked, in their order."""
    return " ".join(word for word in re.findall(r"\w+", question.lower()) if word not in _COMMON)


def asked(words: str) -> list[str]:
    """The glossary's terms among words, then the names with most of the rarest, then the terms'."""
    words = words.lower()
    phrases = {text: term for text, term in _phrases().items() if _says(words, text)}
    said = phrases.values()
    in_phrases = {word for text in phrases for word in text.split()}
    scores: dict[str, dict[str, float]] = {}
    for word in words.split():
        rows = [name for name, own in _indexed().items() if _matches(word, own)]
        for name in rows:
            scores.setdefault(name, {})[word] = math.log(2 * len(_indexed()) / len(rows))
    # Of a name with one word alone the glossary says more, if it has the word.
    scores = {
        n: own
        for n, own in scores.items()
        if len(own) > 1 or not in_phrases & {*map(_stem, own), *own}
    }
    least = _NEAR * max((sum(own.values()) for own in scores.values()), default=0)
    best = sorted(
        (name for name, own in scores.items() if sum(own.values()) >= least),
        key=lambda name: (-sum(scores[name].values()), len(_indexed()[name])),
    )
    listed = [name for term in said for name in glossary()[term]["names"]]
    return list(dict.fromkeys((*said, *best[:_BEST], *listed)))


def _says(words: str, text: str) -> bool:
    return bool(re.search(rf"\b{re.escape(text)}s?\b", words))


def _stem(word: str) -> str:
    return word.removesuffix("s")


def _matches(word: str, own: frozenset[str]) -> bool:
    stem = _stem(word)
    return word in own or stem in own or (len(stem) > 4 and any(w.startswith(stem) for w in own))


def _phrases() -> dict[str, str]:
    """The words that name a term in a question, and the term."""
    more = {text: term for term, row in glossary().items() for text in row.get("asked", ())}
    return terms() | more


@functools.cache
def _indexed() -> dict[str, frozenset[str]]:
    """The words of each C name, and of each public Python name with its parameters."""
    gone = gone_names()
    found = {name: frozenset(name_words(name)) for name in all_names() if name not in gone}
    for owner in vars(cudnn_ctypes)["__all__"]:
        item = getattr(cudnn_ctypes, owner)
        if inspect.isfunction(item):
            found[owner] = _with_parameters(owner, item)
        elif inspect.isclass(item) and not issubclass(item, Exception):
            found[owner] = frozenset(name_words(owner))
            for member, method in inspect.getmembers(item, inspect.isroutine):
                if not member.startswith("_"):
                    found[f"{owner}.{member}"] = _with_parameters(member, method) | found[owner]
    return found


def _with_parameters(name: str, function: Any) -> frozenset[str]:
    return frozenset(word for each in (name, *signature(function)) for word in name_words(each))


_SHOWN = 40  # names printed for a query of words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes lookup``."""
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="a function, type, enumerator, macro, backend attribute (tensor.data_type), status "
        "(2000), exception, class, method (Graph.sdpa), a name of an older cuDNN, a known fault by "
        "its name, issue (pytorch 196678) or words (known fault relu), words (pooling backward), "
        "a term (plan), a question (how do I wait for a stream), a name of cudart or cublas, "
        "an error's text that quotes a graph or engine, or a file with graphs or a log of cuDNN",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def main(arguments: argparse.Namespace) -> int:
    """Print the entries of each name, or what a file has; 0 if all were found, 1 if not."""
    files = [name for name in arguments.names if Path(name).is_file()]
    evidence = [evidence_in(Path(file)) for file in files]
    if not arguments.json:
        for each in evidence:
            print(each)
    queries = _queries([name for name in arguments.names if name not in files])
    results = [(query, *_answer(query)) for query in queries]
    if arguments.json:
        told = [each.as_dict() for each in evidence] + [_as_dict(*result) for result in results]
        print(json.dumps(told, indent=2))
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
    plain = all(name.rstrip("?").isalpha() and not _is_name(name) for name in names)
    joined = " ".join(names)
    if len(names) > 1 and (find(joined) or (plain and not all(find(name) for name in names))):
        return [joined]
    return names


def _answer(query: str) -> tuple[list[Entry], list[str], list[str]]:
    """The entries for a query, or the names with its words, or names spelled like it."""
    if entries := find(query) or quotations(query):
        return entries, [], []
    if _is_name(query) and (like := near(query)):
        return [], [], like
    if is_question(query):
        return _to_question(subject(query))
    found = [*named(query)] or [name for name in mentioning(_plain(query)) if find(name)]
    operation = f"Graph.{query}"
    if query.isidentifier() and find(operation):
        found.insert(0, operation)
    if len(found) != 1:
        found += [row.name for row in known_faults() if row.mentions(_plain(query))]
    if len(found) == 1:
        return find(found[0]), [], []
    found = found or (asked(query) if " " in query else [])
    return [], found, [] if found else near(query)


def _to_question(words: str) -> tuple[list[Entry], list[str], list[str]]:
    """The term that a question is about, or names that belong to its words."""
    if entries := find(words):
        return [each for each in entries if each.kind == "term"] or entries, [], []
    found = asked(words) or [name for name in mentioning(_plain(words)) if find(name)]
    if words and not found:
        found = [row.name for row in known_faults() if row.mentions(words.split())]
    return (find(found[0]), [], []) if len(found) == 1 else ([], found, [])


def _plain(query: str) -> list[str]:
    return [word for word in query.lower().split() if any(map(str.isalnum, word))]


def _is_name(query: str) -> bool:
    """Whether a query is written like a name rather than words."""
    return "." in query or query.lower().startswith(("cudnn", "cuda", "cublas"))


def _as_dict(
    query: str, entries: list[Entry], found: list[str], like: list[str]
) -> dict[str, object]:
    return {
        "query": query,
        "entries": [entry.as_dict() for entry in entries],
        "found": found,
        "near": like,
    }


_LISTED = 16  # names of one list


def print_entry(entry: Entry) -> None:
    """Print an entry."""
    console = Console(highlight=False)
    _print(console, f"{entry.name}: {entry.kind}", style="bold")
    console.print()
    _print(console, entry.text)
    for title, names in entry.lists.items():
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            _print(console, f"\n{title}:  {', '.join(names[:_LISTED])}{more}")
    if said := entry.explanation:
        _print(console, f"\n{said.header.name} of cuDNN {said.version} says:", style="italic")
        _print(console, textwrap.indent("\n".join(_reflowed(said.text, console.width - 2)), "  "))
        for name, meaning in said.parameters.items():
            _print(console, f"  {name}:  {meaning}")
    elif entry.in_headers and include_folder() is None:
        _print(console, "\nNVIDIA's explanation is in the headers of cuDNN; none are installed.")
    console.print()


def print_found(query: str, found: Sequence[str], total: int, like: Sequence[str]) -> None:
    """Print the names that a query found, or names spelled like the query."""
    console = Console(highlight=False)
    if found:
        some = f", {len(found)} of them" if total > len(found) else ""
        _print(console, f"{total} names, or their explanations, have words of {query!r}{some}:")
        _print(console, "\n".join(f"  {name}" for name in found))
    else:
        suggested = f"; did you mean {' or '.join(like)}?" if like else ""
        _print(console, f"nothing is called {query!r}{suggested}")
    console.print()


def _print(console: Console, text: str, *, style: str = "") -> None:
    """Print lines, wrapped between words; continuation lines are aligned with the last column."""
    for line in text.split("\n"):
        columns = [match.end() for match in re.finditer(r"\S {2,}(?=\S)", line)]
        bullet = re.match(r" *(?:- )?", line)
        start = columns[-1] if columns else bullet.end() if bullet else 0
        pieces = _wrapped(line, console.width, min(start, console.width // 2))
        for piece in pieces or [""]:
            console.print(Text(piece, style=style), soft_wrap=True)


def _wrapped(line: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(
        line,
        max(width, 40),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _reflowed(text: str, width: int) -> Iterator[str]:
    """The lines of a text; a paragraph with an overlong line is joined into one line."""

    def indent(line: str) -> tuple[int, bool]:
        return len(line) - len(line.lstrip()), bool(line.strip())

    for _, group in itertools.groupby(text.splitlines(), indent):
        lines = list(group)
        if all(len(line) <= width for line in lines):
            yield from lines
            continue
        first = re.match(r"\s*", lines[0])
        margin = first[0] if first else ""
        item = ""
        for line in map(str.strip, lines):
            if item and re.match(r"- |[A-Z]\w*:|CUDNN_\w+ - ", line):
                yield margin + item
                item = ""
            item = f"{item} {line}".strip()
        yield margin + item

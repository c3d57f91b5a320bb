"""The names that a question is about, by its words."""

from __future__ import annotations

import functools
import inspect
import math
import re
from typing import Any

import cudnn_ctypes

from ...raw.gone import gone_names
from .entries import all_names, glossary, name_words, signature, terms

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

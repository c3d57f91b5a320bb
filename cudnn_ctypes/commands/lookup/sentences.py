"""The names that a question is about, by its words."""

from __future__ import annotations

import functools
import inspect
import math
import re
from typing import Any

import cudnn_ctypes

from ...raw.gone import gone_names
from .entries import all_names, glossary, has_word, name_words, signature, terms

# Words of questions that say nothing about what is asked.
_COMMON = frozenset(
    """
    a about an and are as at be by can cannot do does for from have how i if in into is it its make
    me mean means my need not of on one or should tell that the them there this to use want what
    when where which who why will with would you
    """.split()  # noqa: SIM905
)
_BEST = 8  # names with the words of a question that are told
_NEAR = 0.8  # the part of the best score that a name needs


def subject(question: str) -> str:
    """The words of a question that say what is asked, in their order."""
    return " ".join(word for word in re.findall(r"\w+", question.lower()) if word not in _COMMON)


def asked(question: str) -> list[str]:
    """The glossary's terms in a question, names that have most of its rarest words, their names."""
    text = subject(question)
    said = [t for word, t in terms().items() if re.search(rf"\b{re.escape(word)}s?\b", text)]
    scores: dict[str, float] = {}
    for word in map(_stem, text.split()):
        rows = [name for name, own in _indexed().items() if any(has_word(w, word) for w in own)]
        for name in rows:
            scores[name] = scores.get(name, 0) + math.log(2 * len(_indexed()) / len(rows))
    least = _NEAR * max(scores.values(), default=0)
    best = sorted(
        (name for name, score in scores.items() if score >= least),
        key=lambda name: (-scores[name], len(_indexed()[name])),
    )
    listed = [name for term in said for name in glossary()[term]["names"]]
    return list(dict.fromkeys((*said, *best[:_BEST], *listed)))


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


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

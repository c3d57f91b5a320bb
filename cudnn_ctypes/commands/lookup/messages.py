"""Entries for texts of errors: messages of frameworks, and the graphs and engines they quote."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...evidence.quotations import quoted_engines, quoted_graphs
from .entries import Entry


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

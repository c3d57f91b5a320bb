"""Questions that people asked in public: one command answers nearly all of them.

``questions.json`` has what each asks and where, the command, patterns of its answer, and whether it
answered before logs were read and now: "no" where the cause is not known.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import Graph
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.evidence.atlas.measuring import shapes

QUESTIONS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("questions.json").read_text())


def _float32_result() -> Graph:
    graph = Graph(io_data_type="bfloat16")
    product = graph.matmul(graph.tensor((16, 32, 128)), graph.tensor((16, 128, 64)))
    product.set_output(data_type="float32")
    return graph


def _broadcast_bias() -> Graph:
    graph = Graph(io_data_type="bfloat16")
    q, k, v = (graph.tensor((2, 4, 128, 64)) for _ in "qkv")
    graph.sdpa(q, k, v, bias=graph.tensor((2, 1, 1, 128)))[0].set_output()
    return graph


def _bias_gradient() -> Graph:
    graph = Graph(io_data_type="bfloat16")
    operands = [graph.tensor((2, 4, 128, 64)) for _ in range(5)]
    stats = graph.tensor((2, 4, 128, 1), data_type="float32")
    bias, gradient = (graph.tensor((1, 4, 128, 128), name=name) for name in ("bias", "dBias"))
    for each in graph.sdpa_backward(*operands, stats, bias=bias, dBias=gradient):
        each.set_output()
    return graph


FILES: dict[str, Callable[[], Graph]] = {
    "winograd.json": shapes()["convolution forward float16 nchw groups 1"],
    "float32_convolution.json": shapes()["convolution forward float32 nhwc groups 1"],
    "filter_gradient.json": shapes()["convolution filter gradient float16 nhwc groups 1"],
    "float32_result.json": _float32_result,
    "broadcast_bias.json": _broadcast_bias,
    "bias_gradient.json": _bias_gradient,
}


def test_enough_are_answered():
    assert len({each["at"] for each in QUESTIONS}) == len(QUESTIONS) >= 40
    counts = Counter(each["now"] for each in QUESTIONS)
    assert counts["yes"] + counts["on a GPU"] >= 32
    assert counts["no"] > 0
    assert all(each["now"] != "no" for each in QUESTIONS if each["before"] == "yes")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "asked", [pytest.param(each, id=each["asks"]) for each in QUESTIONS if each["now"] == "yes"]
)
def test_one_command_answers(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in FILES.keys() & set(asked["command"]):
        graph = FILES[name]()
        graph.validate()
        Path(name).write_text(graph.to_json())
    assert main(asked["command"]) in (0, 1)
    said = " ".join(capsys.readouterr().out.split())
    for pattern in asked["says"]:
        assert re.search(pattern, said), pattern

"""Reading the names of plans: "eng4_k24=3"."""

from __future__ import annotations

import re
from typing import Any

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import raw


def engine_and_knobs(name: str) -> tuple[int, dict[Any, int]]:
    """The engine, and its knobs by ``knob_type``; those without one are left out."""
    engine = re.match(r"eng(\d+)", name)
    assert engine is not None
    knobs = {}
    for code, value in re.findall(r"_k(\d+)=(\d+)", name):
        c_name = raw.cudnnBackendKnobType_t(int(code)).name.removeprefix("CUDNN_KNOB_TYPE_")
        if c_name in cudnn.knob_type.__members__:
            knobs[cudnn.knob_type[c_name]] = int(value)
    return int(engine[1]), knobs


def first_with_knobs(graph: Any) -> tuple[int, dict[Any, int]]:
    """The engine and knobs of the first plan that has knobs and can be built."""
    for index in range(graph.get_execution_plan_count()):
        engine, knobs = engine_and_knobs(graph.get_plan_name_at_index(index))
        if knobs:
            try:
                graph.build_plan_at_index(index)
            except cudnn.cudnnGraphNotSupportedError:
                continue
            return engine, knobs
    raise AssertionError("no plan has knobs")

"""Graphs as bytes: ours, damaged ones, and those that NVIDIA's front end wrote."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

import cudnn_ctypes.frontend as cudnn

pytestmark = pytest.mark.usefixtures("reference_device")


def built() -> Any:
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.FLOAT)
    x = graph.tensor([2, 8, 16], [128, 16, 1], uid=1)
    graph.matmul(x, graph.tensor([2, 16, 8], [128, 8, 1], uid=2)).set_output(True).set_uid(3)
    graph.build()
    return graph


def ubjson(value: Any) -> bytes:
    """As NVIDIA's front end writes it (ubjson.org): sizes of keys are int8, text is int32."""
    if isinstance(value, dict):
        items = (b"i" + bytes([len(k)]) + k.encode() + ubjson(v) for k, v in value.items())
        return b"{" + b"".join(items) + b"}"
    if isinstance(value, list):
        return b"[" + b"".join(map(ubjson, value)) + b"]"
    if isinstance(value, str):
        return b"Sl" + struct.pack(">i", len(value)) + value.encode()
    return b"l" + struct.pack(">i", value)


NVIDIAS = ubjson(
    {
        "behavior_notes": [],
        "cudnn_backend_data": json.dumps({"cudnnVersion": 92800}),
        "variant_pack_uids": [1, 2, 3],
    }
)


def test_bytes_and_lists_say_the_same():
    graph = built()
    data = graph.serialize(as_bytes=True)
    assert isinstance(data, bytes)
    assert list(data) == graph.serialize() == graph.serialize(include_kernels=False)
    for arguments in ((data, True), (cudnn.create_handle(), data, False)):
        restored = cudnn.pygraph()
        restored.deserialize(*arguments)
        assert restored.serialize() == graph.serialize()
    with pytest.raises(RuntimeError, match="there is no plan 1: a deserialized graph has one"):
        restored.get_workspace_size_plan_at_index(1)


@pytest.mark.parametrize("form", [bytes, list, bytearray])
@pytest.mark.parametrize("part", [1.0, 0.5])
def test_what_nvidias_front_end_wrote_is_called_so(form, part):
    data = NVIDIAS[: int(len(NVIDIAS) * part)]  # a damaged one is still not one of ours
    with pytest.raises(ValueError, match=r"a serialized graph \(UBJSON.*NVIDIA's front end wrote"):
        cudnn.pygraph().deserialize(form(data))


def test_so_are_plans_of_its_own_kernels_and_its_texts():
    with pytest.raises(ValueError, match="a plan of one of its own kernels, which NVIDIA's"):
        cudnn.pygraph().deserialize(b"CUDNN_FE_PYPLAN\0" + bytes(64))
    text = json.dumps({"cudnn_frontend_version": 13200, "json_version": "2.0", "nodes": []})
    for form in (text, text.encode()):
        with pytest.raises(ValueError, match="the text of a graph of NVIDIA's front end"):
            cudnn.pygraph().deserialize(form)

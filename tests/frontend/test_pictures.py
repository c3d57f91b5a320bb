"""Pictures of a `pygraph`."""

from __future__ import annotations

from cudnn_ctypes import frontend as cudnn


def _product() -> cudnn.pygraph:
    graph = cudnn.pygraph(
        name="product",
        io_data_type=cudnn.data_type.HALF,
        intermediate_data_type=cudnn.data_type.FLOAT,
        compute_data_type=cudnn.data_type.FLOAT,
        device_property="H200",
    )
    x = graph.tensor(name="x", dim=[1, 64, 64], stride=[4096, 64, 1])
    w = graph.tensor(name="w", dim=[1, 64, 64], stride=[4096, 64, 1])
    graph.relu(graph.matmul(x, w)).set_output(True)
    return graph


def test_the_graph_and_its_engine_are_drawn():
    with _product() as graph:
        pictures = (graph.to_svg, graph._repr_html_)
        for picture in pictures:
            text = picture()
            assert "matmul" in text
            assert "relu" in text
            assert "engine" not in text
        graph.build([cudnn.heur_mode.A])
        engine = graph._plan(None).config.choice.engine
        for picture in pictures:
            assert f"engine {engine} " in picture()

"""Descriptions of every kind of object: their numbers against those of other sources."""

from __future__ import annotations

import ctypes
import xml.etree.ElementTree as ElementTree
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import Description, describe, frontend, raw


def lines(item: Any, **given: Any) -> list[str]:
    return [line.strip() for line in str(describe(item, **given)).splitlines()]


def has_picture(found: Description) -> bool:
    assert found.picture is not None
    ElementTree.fromstring(found.svg())
    assert "<svg" in found._repr_html_()
    assert found._repr_svg_() == found.svg()
    return True


@pytest.fixture
def handle():
    with cudnn.use_reference_device(), cudnn.Handle() as made:
        yield made


class TestTensors:
    def test_a_raw_descriptor_says_the_same(self):
        x = raw.cudnnTensorDescriptor_t()
        assert str(describe(x)) == "cudnnTensorDescriptor_t: NULL, not created yet"
        raw.cudnnCreateTensorDescriptor(x)
        assert str(describe(x)) == "cudnnTensorDescriptor_t: created, but never set"
        raw.cudnnSetTensor4dDescriptor(x, raw.CUDNN_TENSOR_NHWC, raw.CUDNN_DATA_HALF, 1, 3, 4, 5)
        with cudnn.TensorDescriptor((1, 3, 4, 5), "float16", layout="NHWC") as other:
            assert lines(x)[1:] == lines(other)[1:]
        raw.cudnnDestroyTensorDescriptor(x)
        assert str(describe(x)) == "cudnnTensorDescriptor_t: destroyed"

    def test_vectors(self):
        with cudnn.TensorDescriptor((2, 8, 3, 4), "int8", layout="NCHW_VECT_C4") as x:
            found = lines(x)
            nbytes = x.size_in_bytes
        assert "4 channels are one vector: strides count vectors, dims count channels" in found
        assert f"{nbytes} bytes from the first element to the last, without gaps" in found
        assert "48 * (c // 4) + c % 4" in found[-1]

    def test_gaps(self):
        with cudnn.TensorDescriptor((2, 3, 4, 5), "float16", strides=(120, 1, 30, 5)) as x:
            text = " ".join(lines(x)[3:])
        assert text == (
            "strides (120, 1, 30, 5): one step moves on by 120 elements along n, 1 along c, 30 "
            "along h, 5 along w "
            "layout without a name; from the outermost axis to the innermost: n, h, w and c "
            "466 bytes from the first element to the last, 113 places of them in gaps "
            "element [n, c, h, w] is at byte 2 * (120 * n + c + 30 * h + 5 * w)"
        )

    def test_filters(self):
        with cudnn.FilterDescriptor((16, 3, 3, 3), layout="NHWC") as w:
            found = lines(w)
        assert found[1] == "dims (k, c, r, s) = (16, 3, 3, 3): 432 elements"
        assert "layout NHWC: the channels of a tap lie together (KRSC)" in found

    def test_memory_of_all_kinds(self, handle):
        x = cudnn.DeviceTensor.zeros((2, 3, 4, 5), "float16", layout="NHWC")
        found = describe(x)
        assert f"  at {x.ptr:#x}, host memory, for the reference device" in str(found)
        assert has_picture(found)
        assert lines(cudnn.DeviceBuffer(100))[1] == "100 bytes without a type"
        x.close()
        assert "closed" in str(describe(x))
        array = np.zeros((4, 6), np.float32)
        assert "strides (12, 2)" in str(describe(array[::2, ::2]))
        assert "cuDNN takes device memory" in lines(array)[-1]
        assert "no such data type" in str(describe(np.zeros(3, "U4")))
        assert "strides are no whole elements" in str(
            describe(np.zeros(4, [("a", "i1"), ("b", "i4")])["b"])
        )

    def test_only_images_and_filters_have_layouts_with_names(self):
        with cudnn.SeqDataDescriptor((5, 2, 1, 8), lengths=(5, 3), axes="NTBV") as x:
            said = str(describe(x))
        assert "NCHW" not in said
        assert "from the outermost axis to the innermost: n, t, b and v" in said
        with cudnn.TensorDescriptor((2, 3, 4, 5, 6, 7)) as y:
            assert "layout packed in C order: without gaps" in lines(y)

    def test_no_elements(self):
        assert lines(np.zeros((0, 3)))[1] == "dims (i, j) = (0, 3): 0 elements"
        assert lines(np.zeros(()))[1] == "dims (): 1 element"

    def test_tensors_of_pytorch(self):
        torch = pytest.importorskip("torch")
        x = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
        assert "layout NHWC: the channels of a pixel lie together" in lines(x)
        assert "memory of torch on cpu" in lines(x)
        repeated = str(describe(torch.zeros(3, 1).expand(3, 4)))
        assert "all elements along j are the same" in " ".join(repeated.split())


class TestWindows:
    def test_shapes_do_for_operands(self):
        with cudnn.ConvolutionDescriptor(1) as conv:
            assert "give y (1, 4, 8, 8)" in str(describe(conv, x=(1, 3, 8, 8), w=(4, 3, 3, 3)))
            with pytest.raises(TypeError, match="expected a tensor, a descriptor or a shape"):
                describe(conv, x=3)

    def test_an_example_without_operands(self):
        for ndim in (1, 2, 3):
            with cudnn.ConvolutionDescriptor((1,) * ndim, (2,) * ndim, groups=2) as conv:
                found = describe(conv)
            assert "Size of the output, for example" in str(found)
            assert has_picture(found)

    def test_sizes_are_computed_step_by_step(self):
        with cudnn.ConvolutionDescriptor((1, 2), (2, 1), (1, 3), groups=2) as conv:
            found = lines(conv, x=(1, 4, 9, 12), w=(6, 2, 3, 3))
        assert found[-4:] == [
            "height: reach = (3 - 1) * 1 + 1 = 3, "
            "y = floor((9 + 2 * 1 - 3) / 2) + 1 = floor(8 / 2) + 1 = 5",
            "width: reach = (3 - 1) * 3 + 1 = 7, "
            "y = floor((12 + 2 * 2 - 7) / 1) + 1 = floor(9 / 1) + 1 = 10",
            "x (1, 4, 9, 12) and w (6, 2, 3, 3) give y (1, 6, 5, 10)",
            "computed directly, that is 5,400 multiplications",
        ]
        with cudnn.PoolingDescriptor((3, 2), stride=(2, 1), padding=(1, 0)) as pooling:
            assert lines(pooling, x=(2, 3, 9, 8))[-3:] == [
                "height: floor((9 + 2 * 1 - 3) / 2) + 1 = 5",
                "width: floor((8 + 2 * 0 - 2) / 1) + 1 = 7",
                "x (2, 3, 9, 8) gives y (2, 3, 5, 7)",
            ]

    def test_what_does_not_fit_is_said(self):
        with cudnn.ConvolutionDescriptor(1) as conv:
            found = describe(conv, x=(1, 3, 8, 8), w=(4, 5, 3, 3))
        assert "x: it has 3 channels, but filters w (4, 5, 3, 3) over 5 channels" in str(found)
        assert found.picture is None
        with pytest.raises(ValueError, match="no picture of this: ConvolutionDescriptor"):
            found.svg()

    def test_pooling(self):
        with (
            cudnn.PoolingDescriptor((3, 2), stride=2, padding=1) as pooling,
            cudnn.TensorDescriptor((1, 3, 9, 8)) as x,
        ):
            found = describe(pooling, x=x)
            y = pooling.output_shape(x)
        assert f"x (1, 3, 9, 8) gives y {y}" in str(found)
        assert has_picture(found)
        assert "padding does not count" in found.svg()
        assert found.slider().steps == y[2] * y[3]

    def test_pooling_without_an_image_and_with_one_that_does_not_fit(self):
        with cudnn.PoolingDescriptor((3, 2), stride=2, padding=1) as pooling:
            with cudnn.TensorDescriptor((1, 1, 5, 5)) as x:
                y = pooling.output_shape(x)
            assert f"x (1, 1, 5, 5) gives y {y}" in lines(pooling)
            assert lines(pooling, x=(1, 3, 9))[-1] == "x (1, 3, 9) has not 4 dimensions"
        with cudnn.PoolingDescriptor(9) as pooling:
            found = lines(pooling, x=(1, 1, 4, 4))
        assert found[-1] == "the window is larger than the padded image: there is no output"

    def test_filters_in_order_and_clipped_cells(self):
        with cudnn.ConvolutionDescriptor(1, reorder_type="no_reorder") as conv:
            assert "reorder type no_reorder: filters are in order already" in lines(conv)
        with cudnn.RNNDescriptor("lstm", input_size=4, hidden_size=8, clip=(-2.0, 3.0)) as rnn:
            assert "cell states are clipped to -2.0 to 3.0" in lines(rnn)

    def test_an_rnn_says_its_sequences_too(self):
        with (
            cudnn.RNNDescriptor("gru", input_size=4, hidden_size=8) as descriptor,
            cudnn.RNNDataDescriptor((3, 2), 4) as x,
            cudnn.RNN(descriptor, x) as rnn,
        ):
            found, of_descriptor, of_x = lines(rnn), lines(descriptor), lines(x)
        assert found[0] == of_descriptor[0].replace("RNNDescriptor", "RNN")
        begin = found.index("Sequences x")
        assert found[1:begin] == of_descriptor[1:begin]
        assert found[begin + 1 :][: len(of_x)] == of_x

    def test_operations_that_launch(self):
        with (
            cudnn.TensorDescriptor((1, 3, 8, 8)) as x,
            cudnn.FilterDescriptor((4, 3, 3, 3)) as w,
            cudnn.ConvolutionDescriptor(1) as conv,
            cudnn.TensorDescriptor((1, 4, 8, 8)) as y,
        ):
            found = describe(cudnn.ConvolutionForward(x, w, conv, y))
        assert found.title.startswith("ConvolutionForward: how filters move")
        assert "give y (1, 4, 8, 8)" in str(found)


class TestRecurrent:
    @pytest.mark.parametrize(
        "options",
        [
            {"cell": "lstm", "bidirectional": True, "layers": 2},
            {"cell": "gru", "bias": "single_inp_bias"},
            {"cell": "rnn_tanh", "bias": "no_bias", "layers": 3},
            {"cell": "lstm", "projection_size": 5},
        ],
    )
    def test_the_weight_space(self, handle, options):
        """Without a handle as it is with the reference device's, which C's function tells."""
        with cudnn.RNNDescriptor(input_size=6, hidden_size=8, **options) as rnn:
            with cudnn.RNNWeights(handle, rnn) as weights:
                lain = {
                    (f"{t.ptr - weights.space.ptr:,}", f"{t.nbytes:,}", name)
                    for layer in weights
                    for name, t in layer.items()
                }
                of_weights = describe(weights)
                total = weights.space.nbytes
            found, asked = describe(rnn), describe(rnn, handle=handle)
        for each in (found, asked, of_weights):
            table = each.sections[-1].table
            assert table is not None
            assert {(row[3], row[4], row[1]) for row in table.rows} == lain
            assert f"{total:,} bytes in all" in str(each)
            assert has_picture(each)
        assert "as the reference device has it" in str(found)
        assert "as cuDNN has it" in asked.sections[-1].title

    def test_sequences(self):
        with cudnn.RNNDataDescriptor([3, 2], 5) as x:
            assert "memory (3, 2, 5): 120 bytes" in lines(x)


class TestOperations:
    def test_every_field_has_its_meaning(self):
        with cudnn.ActivationDescriptor("elu", coef=0.5) as activation:
            assert lines(activation)[1] == "mode elu: x for x >= 0, else coef * (exp(x) - 1)"
            assert lines(activation)[3].startswith("coef 0.5: ")
        made = [
            cudnn.LRNDescriptor(),
            cudnn.OpTensorDescriptor("mul"),
            cudnn.ReduceTensorDescriptor("norm2"),
            cudnn.CTCLossDescriptor(),
            cudnn.SpatialTransformerDescriptor((1, 2, 3, 4)),
            cudnn.FusedOpsConstParamPack("scale_bias_activation_conv_bnstats"),
            cudnn.FusedOpsVariantParamPack("scale_bias_activation_conv_bnstats"),
            cudnn.FusedOpsPlan("scale_bias_activation_conv_bnstats"),
        ]
        for descriptor in made:
            assert len(lines(descriptor)) > 1, descriptor
            assert "not known" not in str(describe(descriptor))
            assert describe(descriptor)._repr_svg_() is None
            descriptor.close()

    def test_records_and_their_words_have_the_same_fields(self):
        import dataclasses

        from cudnn_ctypes.evidence.describe.operations import KINDS, meanings

        for record in KINDS:
            told = meanings()[record.__name__]["fields"]
            assert [field.name for field in dataclasses.fields(record)] == list(told), record

    def test_dropout(self, handle):
        with cudnn.DropoutDescriptor(handle, 0.75, seed=9) as dropout:
            said = str(describe(dropout))
            assert "multiplied by 1 / (1 - rate) = 4" in said
            assert f"{cudnn.dropout_states_size(handle)} bytes" in said
            states = dropout._states.ptr
            assert f"states at {states:#x}" in said
        unset = raw.cudnnDropoutDescriptor_t()
        raw.cudnnCreateDropoutDescriptor(unset)
        assert "only with a handle" in str(describe(unset))
        raw.cudnnDestroyDropoutDescriptor(unset)

    def test_every_record_of_layer_1_has_words(self):
        from cudnn_ctypes.evidence.describe import _BY_RECORD
        from cudnn_ctypes.raw import descriptors

        known = {*_BY_RECORD, descriptors.Convolution, descriptors.Pooling, descriptors.RNN}
        assert {each for each in vars(descriptors).values() if is_dataclass(each)} <= known


class TestHandles:
    def test_a_handle(self, handle):
        said = str(describe(handle))
        assert "the reference device: calls are carried out in NumPy" in said
        assert ".".join(map(str, handle.version)) in said
        assert f"address {handle._as_parameter_.value:#x}" in str(describe(handle._as_parameter_))


@pytest.fixture(scope="module")
def graph():
    graph = cudnn.Graph(
        "conv and relu",
        io_data_type="half",
        intermediate_data_type="float",
        compute_data_type="float",
    )
    x = graph.tensor((1, 8, 8, 8), layout="nhwc", name="x")
    w = graph.tensor((8, 8, 3, 3), layout="krsc", name="w")
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output(name="y")
    return graph


class TestGraphs:
    def test_before_it_is_built(self, graph):
        fresh = cudnn.Graph.from_json(graph.to_json())
        found = describe(fresh)
        assert "conv_fprop of image 'x' and weight 'w' makes 'conv_fprop'" in str(found)
        assert "it is not built yet" in str(found)
        assert has_picture(found)
        assert "not known yet: data type" in str(describe(fresh.tensors[0]))

    def test_numbers_and_ragged_tensors(self):
        graph = cudnn.Graph(io_data_type="float32")
        x, factor = graph.tensor((1, 2, 4)), graph.tensor((1, 1, 1), by_value=True, name="f")
        y = graph.add(graph.mul(x, factor), 0.25).set_output()
        graph.concatenate([x, y], axis=1).set_output(name="joined")
        offset = graph.tensor((3, 1, 1, 1), data_type="int32", name="offset")
        found = lines(graph)
        assert "input 'f' (1, 1, 1) strides (1, 1, 1) (a number that is passed by value)" in found
        assert "input 'add.b' = 0.25, fixed in the graph" in found
        assert any(
            each.startswith("concatenate of inputs ['tensor', 'add'] makes") for each in found
        )
        assert "a number that is passed by value" in lines(factor)
        ragged = graph.tensor((2, 4, 64, 64), ragged_offset=offset)
        assert "each batch begins where tensor 'offset' says (ragged)" in lines(ragged)

    def test_a_built_graph_and_its_plan(self, graph):
        with graph.build("h200") as plan:
            found = describe(graph)
            assert "one engine carries out all operations together" in str(found)
            assert f"engine {plan.config.engine.index}" in str(found)
            assert found.svg() == graph.to_svg()
            assert has_picture(found)
            said = str(describe(plan))
            uids = sorted(plan.uids)
            assert f"unique ids {uids[0]}, {uids[1]} and {uids[2]}" in said
            assert f"workspace: {plan.workspace_size:,} byte" in said
            assert "runtime_compilation" in said
            assert str(describe(plan.config)).startswith("EngineConfig")
            knobs = describe(plan.config.engine).sections[0].table
            assert knobs is not None
            assert {row[0] for row in knobs.rows} == set(plan.config.engine.knobs)
            assert "engine_config: enginecfg" in str(describe(plan.descriptor))
            x = next(each for each in graph.tensors if each.name == "x")
            words = str(describe(x))
            assert "layout NHWC: the channels of a pixel lie together" in words
            assert f"unique id {x.uid}" in words
            assert has_picture(describe(graph.nodes[0]))
            assert lines(graph.nodes[0])[1:7] == [
                "conv_fprop of image 'x' and weight 'w' makes 'conv_fprop' (1, 8, 8, 8)",
                "Operands",
                "image: 'x' (1, 8, 8, 8) float16 strides (512, 1, 64, 8)",
                "weight: 'w' (8, 8, 3, 3) float16 strides (72, 1, 24, 8)",
                "y: 'conv_fprop' (1, 8, 8, 8) float32 strides (512, 1, 64, 8) "
                "(virtual: only between operations,",
                "without memory)",
            ]
        assert "closed" in str(describe(plan))

    def test_explanations_say_themselves(self, graph):
        explanation = graph.explain("h200")
        assert str(explanation).splitlines()[0].strip() in str(describe(explanation))
        assert "<pre" in describe(explanation)._repr_html_()

    def test_graphs_of_the_front_end(self):
        half = frontend.data_type.HALF
        graph = frontend.pygraph(io_data_type=half)
        a = graph.tensor(dim=[1, 4, 8], stride=[32, 8, 1], data_type=half, name="a")
        b = graph.tensor(dim=[1, 8, 4], stride=[32, 4, 1], data_type=half, name="b")
        graph.matmul(a, b).set_output(True)
        found = describe(graph)
        assert found.title.startswith("pygraph")
        assert "of A 'a' and B 'b' makes" in str(found)
        assert has_picture(found)
        assert "dims (i, j, k) = (1, 4, 8)" in str(describe(a))
        assert "MATMUL" in str(describe(graph.nodes[0]))


class TestSequences:
    def test_graphs_one_after_the_other(self, tmp_path):
        graphs = []
        for operation in ("relu", "sigmoid"):
            graph = cudnn.Graph(operation, io_data_type="float16")
            getattr(graph, operation)(graph.tensor((1, 8, 16), name="x")).set_output(name="y")
            graphs.append(graph)
        assert "validate() infers the shapes" in str(describe(graphs))
        for graph in graphs:
            graph.validate()
        found = describe(graphs)
        assert found.title == "2 graphs, one after the other; 1,024 bytes are read and written"
        assert "2 of 2: sigmoid; 512 bytes" in str(found)
        found.slider().save(tmp_path / "graphs.html")
        page = (tmp_path / "graphs.html").read_text()
        assert page.count("<svg") == found.slider().steps == 2
        with pytest.raises(ValueError, match="no picture with steps"):
            describe(graphs[0]).slider()
        with pytest.raises(TypeError, match="expected a descriptor"):
            describe([1, 2])


class TestBackend:
    def test_tensors_of_both_layers(self):
        tensor = cudnn.BackendDescriptor(
            "tensor",
            unique_id=1,
            data_type="float16",
            byte_alignment=16,
            dimensions=[1, 8, 4, 4],
            strides=[128, 1, 32, 8],
        ).finalize()
        found = describe(tensor)
        assert "layout NHWC" in str(found)
        assert has_picture(found)
        of_layer_1 = describe(tensor._as_parameter_)
        assert of_layer_1.title.startswith("cudnnBackendDescriptor_t of kind tensor")
        assert of_layer_1.sections[0].lines[:6] == found.sections[0].lines[:6]
        tensor.close()
        assert "closed" in str(describe(tensor))

    def test_one_that_is_not_finalized(self):
        descriptor = raw.cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, descriptor)
        assert "it is not finalized" in str(describe(descriptor))
        raw.cudnnBackendDestroyDescriptor(descriptor)


class TestResults:
    def test_saving(self, tmp_path):
        with cudnn.TensorDescriptor((1, 2, 3, 4)) as x:
            found = describe(x)
        for name in ("x.svg", "x.txt", "x.html"):
            found.save(tmp_path / name)
        assert (tmp_path / "x.svg").read_text() == found.svg()
        assert (tmp_path / "x.txt").read_text() == f"{found}\n"
        page = (tmp_path / "x.html").read_text()
        assert "<svg" in page
        assert "a tensor of 4 dimensions" in page
        with pytest.raises(ValueError, match=r"expected a name in \.svg, \.txt, \.html"):
            found.save(tmp_path / "x.png")

    def test_every_object_has_at_least_its_docstring(self, handle):
        x = cudnn.DeviceTensor.zeros((1, 3, 8, 8), "float32")
        w = cudnn.DeviceTensor.zeros((4, 3, 3, 3), "float32")
        with cudnn.ConvolutionDescriptor(1) as conv, cudnn.trace() as trace:
            bound = cudnn.bind(cudnn.convolution_forward, handle, x, w, conv)
            bound()
        assert str(describe(bound)).startswith("BoundOperation: An operation with its operands")
        assert "object at 0x" not in str(describe(bound))
        assert "cudnnConvolutionForward(" in str(describe(trace))
        versions = cudnn.library_versions()
        assert str(versions) in str(describe(versions))

    def test_names_of_c(self):
        assert "tensorDesc" in str(describe(raw.cudnnSetTensor4dDescriptor))
        assert "cudnnDataType_t.CUDNN_DATA_HALF = 2" in str(describe(raw.CUDNN_DATA_HALF))
        assert "CUDNN_PROPAGATE_NAN" in str(describe(raw.cudnnNanPropagation_t))

    def test_other_things_are_refused(self):
        for item in (5, "text", object(), ctypes.c_int(3), None):
            with pytest.raises(TypeError, match="expected a descriptor, a tensor, a plan"):
                describe(item)

    def test_nothing_of_a_title_is_markup(self):
        graph = cudnn.Graph("<b> & co")
        graph.tensor((1, 2, 3), name="<i>")
        found = describe(graph)
        assert "<b> &" not in found._repr_html_()
        assert "&lt;b&gt;" in found._repr_html_()


@pytest.mark.gpu
def test_on_a_gpu():
    torch = pytest.importorskip("torch")
    with cudnn.Handle() as handle:
        assert "reference device" not in str(describe(handle))
        x = cudnn.DeviceTensor.zeros((2, 3, 4, 5), "float16", layout="NHWC")
        assert "GPU 0" in str(describe(x))
        assert has_picture(describe(x))
        assert "memory of torch on cuda" in str(describe(torch.zeros(2, 3, device="cuda")))
        rnn = cudnn.RNNDescriptor(cell="lstm", input_size=6, hidden_size=8, layers=2)
        found = describe(rnn, handle=handle)
        table = found.sections[-1].table
        assert table is not None
        assert len(table.rows) == 2 * 16
        assert has_picture(found)
        with cudnn.DropoutDescriptor(handle, 0.5) as dropout:
            assert f"{cudnn.dropout_states_size(handle):,} bytes" in str(describe(dropout))
        rnn.close()

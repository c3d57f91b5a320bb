"""The command ``lookup``."""

from __future__ import annotations

import json

import pytest
from programs import printed

from cudnn_ctypes import raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands import lookup
from cudnn_ctypes.commands.lookup import entries, find
from cudnn_ctypes.commands.lookup.entries import explanation, glossary
from cudnn_ctypes.evidence.quotations import quoted_engines, quoted_graphs
from cudnn_ctypes.raw.attributes import ATTRIBUTES, KINDS
from cudnn_ctypes.raw.describe import documentation
from cudnn_ctypes.raw.gone import gone_names

HEADER = """
#define CUDNN_MAJOR 9
#define CUDNN_MINOR 99
#define CUDNN_PATCHLEVEL 1
/** @file a title */
/* The most dimensions. */
#define CUDNN_DIM_MAX 8
#define CUDNN_BN_MIN_EPSILON 0.0 /* The least epsilon. */
/** Another function. */
int cudnnOther(int x);
/** @brief Adds.
 *
 * y = x + y;
 * { as is }
 * @param[in]     handle A handle
 *                       of the library.
 * @param[in,out] y      The sum.
 * @retval CUDNN_STATUS_SUCCESS It is done.
 * @deprecated Use the graph.
 * @since cuDNN 9.0.0
 */
/* an ordinary comment */
CUDNN_DEPRECATED cudnnStatus_t CUDNNWINAPI
cudnnAddTensor(cudnnHandle_t handle,
               void *y); /**< not about it */
/** @brief Modes of it. */
typedef enum {
    CUDNN_POINTWISE_ADD = 0, /**< Sum. @since cuDNN 9.0.0 */
    /** The product, at length. */
    CUDNN_POINTWISE_MUL = 1, /**< Product,
                                  of two. */
    CUDNN_POINTWISE_MIN = 5  /**< Least. */
} cudnnPointwiseMode_t;
/* A fraction. */
typedef struct {
    int64_t numerator; /* Above. */
    int64_t denominator;
} cudnnFraction_t;
/** A list:
 *  - CUDNN_ATTR_TENSOR_STRIDES (CUDNN_TYPE_INT64, many)
 *      Steps.
 *
 *  - CUDNN_ATTR_TENSOR_UNIQUE_ID (CUDNN_TYPE_INT64, 1)
 *      A number.
 */
typedef enum { CUDNN_ATTR_TENSOR_STRIDES = 903, /**< Strides. */ } cudnnBackendAttributeName_t;
typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cudnn_graph.h").write_text(HEADER)
    (tmp_path / "cudnn_version.h").write_text(HEADER[: HEADER.index("/**")])
    return tmp_path


def looked_up(capsys: pytest.CaptureFixture[str], *names: str, status: int = 0) -> str:
    assert main(["lookup", *names]) == status
    return capsys.readouterr().out


def test_a_function(capsys):
    out = looked_up(capsys, "cudnnConvolutionForward")
    assert set(documentation("cudnnConvolutionForward").split()) <= set(out.split())
    assert "used by:  ConvolutionForward\n" in out
    assert "example:  examples/02_convolution_raw.py\n" in out
    assert "related:  " in out
    assert "cudnnConvolutionBackwardData" in out
    assert "given by:  " in (out := looked_up(capsys, "CUDNN_DATA_HALF"))
    assert " and 0 more" not in out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("CUDNN_POINTWISE_ATAN2", "cudnnPointwiseMode_t.CUDNN_POINTWISE_ATAN2 = 23"),
        ("CUDNN_POINTWISE_ATAN2", "attributes:  pointwise.mode"),
        ("data_half", "cudnnDataType_t.CUDNN_DATA_HALF = 2"),
        ("cudnndatatype_t", "2   CUDNN_DATA_HALF"),
        ("cudnnDeterminism_t", "fields:  cudnnConvolutionFwdAlgoPerf_t.determinism"),
        ("cudnnFilterDescriptor_t", "given by:  cudnnCreateFilterDescriptor"),
        ("cudnnFilterDescriptor_t", "used by:  FilterDescriptor"),
        ("cudnnFraction_t", "int64_t numerator;"),
        ("CUDNN_DIM_MAX", "#define CUDNN_DIM_MAX 8"),
        ("cudnnSetFilter4dDescriptor", "old releases: before 5.0 without format"),
        ("tensor.data_type", "type        CUDNN_TYPE_DATA_TYPE (cudnnDataType_t)"),
        ("CUDNN_ATTR_OPERATIONGRAPH_OPS", "of          any operation"),
        ("engine.numerical_note", "settable    no, cuDNN computes it"),
        ("tensor", "in Python: BackendDescriptor('tensor')"),
        ("2000", "cudnnStatus_t.CUDNN_STATUS_BAD_PARAM = 2000"),
        ("2000", "before 9.0  3"),
        ("9", "9 was CUDNN_STATUS_NOT_SUPPORTED before cuDNN 9.0"),
        ("9", "CUDNN_STATUS_NOT_SUPPORTED = 3000"),
        ("BAD_PARAM", "raised as   BadParamError"),
        ("NotSupportedError", "CUDNN_STATUS_NOT_SUPPORTED_SHAPE (3002)"),
        ("TensorDescriptor", "uses:  cudnnCreateTensorDescriptor, "),
        ("CUDNN_STATUS_BAD_PARAM (2000)", "before 9.0  3"),
        ("cudnnStatus_t.CUDNN_STATUS_BAD_PARAM", "before 9.0  3"),
        ("raw.cudnnCreate(handle)", "cudnnCreate: function"),
        ("cudnnCallback_t", "cudnnCallback_t: callback type"),
        ("Graph", "cudnn_ctypes.Graph("),
        ("pooling backward", "cudnnPoolingBackward: function"),
        ("cublasSgemm", "cublasSgemm: function of cuBLAS"),
        ("cublasSgemm_v2", "cublasSgemm: function of cuBLAS"),
        ("CUDNN_CONVOLUTION_FWD_ALGO_DIRECT", "no release of cuDNN computes it"),
        ("cudaMemcpyHostToDevice", "cudnn_ctypes.cudart.cudaMemcpyHostToDevice = 1"),
        ("OutOfDeviceMemoryError", "has not enough free memory"),
        ("tensor layout", "layout: term"),
        ("streams", "stream: term"),
        ("what is a handle", "handle: term"),
        ("how do I use flash attention", "attention: term"),
        ("how do I set the seed of dropout", "DropoutDescriptor.set(self, rate, seed"),
        ("how do I see which calls my program makes", "cudnn_ctypes.trace("),
    ],
)
def test_what_is_said(capsys, name, says):
    assert says in looked_up(capsys, name)


WRAPPED = """\
cudaMalloc: function of the CUDA runtime

cudnn_ctypes.cudart.cudaMalloc(devPtr,
size)

Allocate `size` bytes of device memory:
``cudaMalloc(byref(pointer), size)``.

example:  examples/02_convolution_raw.py

BadParamError: exception

exception BadParamError(CudnnError,
RuntimeError, Exception)

Status 2xxx: cuDNN refused a parameter.

statuses:  CUDNN_STATUS_BAD_PARAM
           (2000),
"""


def test_whole_entries_are_wrapped_between_words(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")  # 40 are the least
    assert looked_up(capsys, "cudamalloc", "BadParamError").startswith(WRAPPED)


def test_methods_of_classes(capsys):
    assert "cudnn_ctypes.Graph.sdpa(self, q, k, v" in looked_up(capsys, "Graph.sdpa")
    assert "DeviceTensor.from_numpy(array" in looked_up(capsys, "DeviceTensor.from_numpy(x)")
    assert "words of 'sdpa', 40 of them:\n  Graph.sdpa\n" in looked_up(capsys, "sdpa")
    for private in ("Graph._nodes", "Graph.__init__"):
        looked_up(capsys, private, status=1)


def test_words_need_no_quotes_but_names_stand_alone(capsys):
    assert "cudnnPoolingBackward: function" in looked_up(capsys, "pooling", "backward")
    out = looked_up(capsys, "cudnnCreate", "2000")
    assert "cudnnCreate: function" in out
    assert "CUDNN_STATUS_BAD_PARAM: status" in out


def test_misspelt_names_are_not_found_and_told_what_is_like_them(capsys):
    out = looked_up(capsys, "cudnnCreateTensorDescriptr", status=1)
    assert out.startswith("nothing is called 'cudnnCreateTensorDescriptr'; did you mean\n")
    assert "cudnnCreateTensorDescriptor" in out
    assert "tensor.data_type" in looked_up(capsys, "tensor.data_typ", status=1)
    for query in ("1234567", "", " ", "[", "(*", "²", "what is it", "how does xyzzy do"):
        assert looked_up(capsys, query, status=1) == f"nothing is called {query!r}\n\n"


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("how do I set the workspace limit", ["workspace", "Graph.build"]),
        ("how do I choose an algorithm?", ["algorithm", "cudnnGetConvolutionForwardAlgorithm_v7"]),
        ("how do I wait for a stream", ["cudaStreamWaitEvent", "cudaStreamSynchronize"]),
        ("How can I free the device memory", ["device memory", "cudaFree"]),
        ("how many bytes does the workspace need", ["cudnnGetConvolutionForwardWorkspaceSize"]),
        ("which engines can compute my graph", ["Graph.engine_count", "Graph.explain"]),
        ("how do I concatenate tensors", ["Graph.concatenate"]),
        ("how do I multiply matrices", ["matrix product", "Graph.matmul"]),
        ("how do I make a tensor channels last", ["NHWC", "CUDNN_TENSOR_NHWC"]),
        ("how do I run without a GPU", ["reference device", "use_reference_device"]),
        ("how do I measure which engine is fastest", ["autotuning", "Graph.autotune"]),
        ("why is my convolution not supported", ["Graph.explain"]),
        ("how do I save a plan to a file", ["plan cache", "ExecutionPlan.to_json"]),
    ],
)
def test_questions_find_the_names_that_they_are_about(capsys, question, names):
    found = looked_up(capsys, *question.split()).splitlines()
    assert set(names) <= {line.strip() for line in found if line.startswith("  ")}
    assert len(found) < 25


def test_each_term_of_the_glossary_is_told_and_its_names_exist(capsys, monkeypatch):
    monkeypatch.setattr(entries, "explanation", lambda name: None)
    words = [word.lower() for term, row in glossary().items() for word in (term, *row["also"])]
    assert len(words) == len(set(words))
    assert "plan: term\n\nAn engine config made ready" in looked_up(capsys, "execution plan")
    for term, row in glossary().items():
        assert find(term)[0].text == row["says"]
        assert row["says"].endswith(".")
        for name in row["names"]:
            assert [each for each in find(name) if each.kind != "term"], name


def test_json(capsys):
    results = json.loads(
        looked_up(capsys, "cudnnCreate", "tensor.strides", "cudnnCreat", "--json", status=1)
    )
    create, strides, missed = results
    (function,) = create["entries"]
    assert function["since"] == "1.0.0"
    assert function["prototype"] == raw.cudnnCreate.prototype
    handle = {"name": "handle", "declaration": "cudnnHandle_t *handle"}
    assert function["parameters"] == [{**handle, "direction": "out", "length": None}]
    assert function["used_by"] == ["Handle"]
    (attribute,) = strides["entries"]
    assert attribute["types"] == ["CUDNN_TYPE_INT64"]
    assert attribute["is_array"]
    assert missed["entries"] == missed["found"] == []
    assert missed["near"][0] == "cudnnCreate"
    gone = json.loads(looked_up(capsys, "cudnnRNNForwardTraining", "--json"))[0]["entries"][0]
    assert (gone["first"], gone["gone"]) == ("5.0", "9.0")


def test_everything_can_be_looked_up(monkeypatch):
    monkeypatch.setattr(entries, "explanation", lambda name: None)
    for name in (*raw.functions.__all__, *raw.enums.__all__, *raw.types.__all__):
        (found,) = find(name)
        json.dumps(found.as_dict())
        assert name in found.text
    for name in gone_names():
        assert find(name)[0].kind.endswith("gone")
    for kind, own in ATTRIBUTES.items():
        for attribute in own.values():
            (found,) = find(attribute.full_name)
            assert found.name == attribute.name.name
            assert found.facts["descriptor"] == kind.name
    for name in KINDS:
        assert "backend descriptor type" in {each.kind for each in find(name)}
    assert [each.name for each in find("convolution")] == [
        "CUDNN_CONVOLUTION",
        "CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR",
    ]


@pytest.mark.parametrize(
    ("name", "text", "parameters"),
    [
        (
            "cudnnAddTensor",
            "Adds.\n\ny = x + y;\n{ as is }\nReturns: CUDNN_STATUS_SUCCESS It is done.\n"
            "Deprecated: Use the graph.",
            {"handle": "A handle of the library.", "y": "The sum."},
        ),
        ("CUDNN_DIM_MAX", "The most dimensions.", {}),
        ("CUDNN_BN_MIN_EPSILON", "The least epsilon.", {}),
        (
            "cudnnPointwiseMode_t",
            "Modes of it.",
            {
                "CUDNN_POINTWISE_ADD": "Sum.",
                "CUDNN_POINTWISE_MUL": "Product, of two.",
                "CUDNN_POINTWISE_MIN": "Least.",
            },
        ),
        ("CUDNN_POINTWISE_ADD", "Sum.", {}),
        ("CUDNN_POINTWISE_MUL", "The product, at length.\nProduct,\nof two.", {}),
        ("CUDNN_POINTWISE_MIN", "Least.", {}),
        ("cudnnFraction_t", "A fraction.", {"numerator": "Above."}),
        (
            "CUDNN_ATTR_TENSOR_STRIDES",
            "Strides.\nCUDNN_ATTR_TENSOR_STRIDES (CUDNN_TYPE_INT64, many)\nSteps.",
            {},
        ),
    ],
)
def test_explanations_are_the_comments_at_the_declaration(folder, name, text, parameters):
    said = explanation(name, folder)
    assert (said.text, said.parameters) == (text, parameters)
    assert said.version == "9.99.1"
    assert said.header == folder / "cudnn_graph.h"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["sum"], ["cudnnAddTensor", "CUDNN_POINTWISE_ADD"]),
        (["product", "length"], ["CUDNN_POINTWISE_MUL"]),
        (["least"], ["CUDNN_BN_MIN_EPSILON", "CUDNN_POINTWISE_MIN"]),
        (["above"], ["cudnnFraction_t"]),
        (["modes"], ["cudnnPointwiseMode_t"]),
        (["another"], ["cudnnOther"]),
        (["title"], []),
        (["sum", "(*"], []),
    ],
)
def test_words_of_the_explanations_find_names(folder, words, names):
    assert entries.mentioning(words, folder) == names


def test_where_the_headers_say_nothing_there_is_no_explanation(folder, tmp_path):
    for name in ("cudnnTensorDescriptor_t", "CUDNN_MINOR", "cudnnCreate", "CUDNN_POINTWISE"):
        assert explanation(name, folder) is None
    assert explanation("cudnnCreate", tmp_path / "none") is None


def test_missing_headers_are_told(capsys, monkeypatch):
    monkeypatch.setattr(entries, "include_folder", lambda: None)
    monkeypatch.setattr(lookup, "include_folder", lambda: None)
    out = looked_up(capsys, "cudnnCreate")
    assert out.endswith("in the headers of cuDNN; none are installed.\n\n")
    assert "headers" not in looked_up(capsys, "cudnnRNNForwardTraining")


def test_the_headers_beside_the_chosen_library_come_first(folder, tmp_path):
    include = tmp_path / "cudnn" / "include"
    include.mkdir(parents=True)
    (include / "cudnn_graph.h").write_text(HEADER)
    library = tmp_path / "cudnn" / "lib" / "libcudnn.so.9"
    script = """
        from cudnn_ctypes.raw.headers import include_folder
        from cudnn_ctypes.raw import loaded_library
        print(include_folder(), loaded_library())
    """
    assert printed(script, environment={"CUDNN_CTYPES_LIBRARY": str(library)}) == [
        f"{include} None"
    ]


def test_what_errors_of_other_programs_quote(capsys):
    message = "No valid engine configs for Matmul_MUL_GEN_INDEX_CMP_GE_Reduction_SUB_EXP_Matmul_"
    assert main(["lookup", message, "XLA: eng34{k2=2,k24=-1} failed", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    (graph,) = first["entries"]
    assert graph["name"] == "matmul_mul_gen_index_cmp_ge_reduction_sub_exp_matmul"
    assert "attention" in graph["text"]
    (config,) = second["entries"]
    assert (config["engine"], config["knobs"]) == (34, {"tile_size": 2, "kernel_cfg": -1})


@pytest.mark.parametrize(
    ("text", "graphs", "engines"),
    [
        ("ConvFwd_eng4_k17=3_k99=1", [["conv_fprop"]], [(4, {"split_k_slc": 3, "99": 1})]),
        ("__ConvBwdFilter_ADD_RELU_FWD_", [["conv_wgrad", "add", "relu"]], []),
        ("engine 7 of MUL, a strength 12", [], [(7, {})]),
        ("Reduction of costs, ADD_ON", [], []),
    ],
)
def test_quotations(text, graphs, engines):
    assert quoted_graphs(text) == graphs
    assert quoted_engines(text) == engines


def test_a_gone_name_has_its_twin_of_compat_with_all_arguments(capsys):
    main(["lookup", "cudnnGetRNNParamsSize", "cudnnSaveAlgorithm"])
    told = capsys.readouterr().out
    assert "v7.cudnnGetRNNParamsSize(handle, rnnDesc, xDesc, sizeInBytes, dataType)" in told
    assert "compat.v7 has it not: cuDNN 9 has no stored form" in told

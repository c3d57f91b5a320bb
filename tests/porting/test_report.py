"""porting: what the report says of programs, line by line."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudnn_ctypes import cublas, cudart, raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.porting.names import RENAMED
from cudnn_ctypes.porting.program import KINDS, Finding, program_of
from cudnn_ctypes.porting.report import Report, report_on
from cudnn_ctypes.porting.source import holds, parse, parse_text
from cudnn_ctypes.raw.gone import gone_names

pytest.importorskip("tree_sitter")

PROGRAMS = Path(__file__).parent / "programs"

EXPECTED: dict[str, list[tuple[int, str, str]]] = {
    "choice_of_algorithm.cpp": [(11, "fault", "results"), (33, "fault", "status")],
    "clean.c": [],
    "cuda_names.cu": [
        (6, "missing", "helper_cuda.h"),
        (9, "kernel", "scale"),
        (23, "cuda", "cublasStrsm"),
        (26, "cuda", "cudaMemcpyPeer"),
        (30, "cuda", "cuDeviceGet"),
    ],
    "old_convolution.cu": [
        (5, "note", "CUDNN_CALL"),
        (7, "kernel", "fill"),
        (23, "fault", "cudnnSetTensor4dDescriptor"),
        (23, "fault", "cudnnSetTensor4dDescriptor"),
        (24, "gone", "cudnnSetConvolution2dDescriptor"),
        (27, "gone", "cudnnGetConvolutionForwardAlgorithm"),
        (29, "gone", "CUDNN_CONVOLUTION_FWD_PREFER_FASTEST"),
        (40, "cuda", "cudaThreadSynchronize"),
        (43, "fault", "cudnnConvolutionForward"),
        (44, "note", "cudnnConvolutionForward"),
    ],
    "old_rnn.cpp": [
        (7, "gone", "cudnnSetRNNDescriptor_v6"),
        (10, "gone", "cudnnGetRNNParamsSize"),
        (11, "gone", "cudnnGetRNNWorkspaceSize"),
        (20, "gone", "cudnnPersistentRNNPlan_t"),
        (24, "gone", "cudnnOpsInferVersionCheck"),
        (24, "gone", "CUDNN_CNN_TRAIN_MAJOR"),
    ],
    "releases.cpp": [
        (4, "own", "CUDNN_VERSION_MIN"),
        (7, "other", "cudnnSetFilter4dDescriptor_v4"),
        (7, "other", "CUDNN_DATA_FLOAT"),
        (7, "other", "CUDNN_TENSOR_NCHW"),
        (10, "other", "cudnnSetConvolution2dDescriptor"),
        (10, "other", "CUDNN_CONVOLUTION"),
        (14, "gone", "cudnnSetConvolution2dDescriptor_v5"),
        (16, "gone", "cudnnSetPooling2dDescriptor"),
    ],
}
"""What stands in each line, but for what is as it was."""


def report(name: str) -> Report:
    return report_on(parse(PROGRAMS / name))


def of(text: str) -> list[Finding]:
    """What is said of a piece of C++."""
    return report_on(parse_text(text, language="cpp")).findings


def about(text: str, kind: str) -> list[str]:
    return [each.name for each in of(text) if each.kind == kind]


def code(name: str, line: int) -> tuple[str, ...]:
    found = [each.code for each in report(name).findings if each.line == line and each.code]
    assert len(found) == 1
    return found[0]


def test_every_program_is_looked_at():
    assert {path.name for path in PROGRAMS.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_what_stands_in_which_line(name):
    findings = report(name).findings
    found = [(f.line, f.kind, f.name) for f in findings if f.kind != "kept"]
    assert found == EXPECTED[name]
    lines = (PROGRAMS / name).read_text().splitlines()
    for each in findings:
        if re.match("cu|CU", each.name):
            assert any(each.name in line for line in lines[max(each.line - 4, 0) : each.line]), each
        assert each.kind in KINDS
        assert each.text or each.kind in ("kept", "other", "own")


SAID = {
    "scale": "`python -m cudnn_ctypes run` runs it on the host",
    "cublasStrsm": "no stand-in here; nvmath.bindings.cublas.cublasStrsm, on a GPU",
    "cudaMemcpyPeer": "no stand-in here; cuda.bindings.runtime.cudaMemcpyPeer, on a GPU",
    "cuDeviceGet": "cuda.bindings.driver.cuDeviceGet of CUDA Python",
    "cudaThreadSynchronize": "cudart.cudaDeviceSynchronize today",
    "CUDNN_CONVOLUTION_FWD_PREFER_FASTEST": (
        "gone since cuDNN 8.0, with cudnnGetConvolutionForwardAlgorithm"
    ),
    "cudnnOpsInferVersionCheck": "gone since cuDNN 9.0: the libraries for inference and for "
    "training are one (cudnn_ctypes.compat.v7 has it as it was)",
    "cudnnSetPooling2dDescriptor": "8 arguments; it takes 9 (before 5.0 without "
    "maxpoolingNanOpt; cudnn_ctypes.compat.v7 takes either)",
    "status": "3 was CUDNN_STATUS_BAD_PARAM, which is 2000 since cuDNN 9",
}


def test_what_is_said_of_a_name():
    said = {each.name: each.text for name in EXPECTED for each in report(name).findings}
    assert {name: said[name] for name in SAID} == SAID


# -- what to write instead ------------------------------------------------------------------------


def suggestions() -> Iterator[tuple[str, str]]:
    """All code that the report may print: of the programs, and of its tables."""
    for name in EXPECTED:
        for each in report(name).findings:
            yield from ((f"{name}:{each.line}", line) for line in each.code)
    for gone in gone_names():
        for each in of(f"void f() {{ {gone}; }}"):
            yield from ((gone, line) for line in each.code)
    yield from RENAMED.items()


def test_what_is_suggested_is_python_with_names_that_are_there():
    count = 0
    for where, line in suggestions():
        tree = ast.parse(line)
        count += 1
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and re.match(r"cudnn[A-Z]|CUDNN_", node.id):
                assert hasattr(raw, node.id), (where, line)
            if isinstance(node, ast.Name) and re.match(r"cuda[A-Z]|cublas[A-Z]", node.id):
                assert hasattr(cudart, node.id) or hasattr(cublas, node.id), (where, line)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in raw.FUNCTIONS:
                function = raw.FUNCTIONS[node.func.id]
                assert len(node.args) == len(function.parameters), (where, line)
    assert count > 200


# -- single rules ---------------------------------------------------------------------------------

CONVOLUTION = """
void f(cudnnHandle_t h, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
       cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t a, float *d) {{
  {declared}
  cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_{kind}, 1, 1, 1, 1);
  cudnnConvolutionForward(h, {alpha}, x, d, w, d, c, a, d, 0, {beta}, x, d);
}}
"""


@pytest.mark.parametrize(
    ("declared", "kind", "alpha", "beta", "faults", "notes"),
    [
        ("float one = 1, zero = 0;", "FLOAT", "&one", "&zero", 0, 0),
        ("float one = 1.f, zero = 0;", "HALF", "&one", "&one", 0, 1),
        ("double one = 1, zero = 0;", "DOUBLE", "&one", "&zero", 0, 0),
        ("double one = 1, zero = 0;", "HALF", "&one", "&zero", 2, 0),
        ("float one = 1, zero = 0.0f;", "DOUBLE", "&one", "&zero", 2, 0),
        ("int one = 1; float zero = 0.0f;", "FLOAT", "&one", "&zero", 1, 0),
        ("float one(1), zero{0};", "FLOAT", "&one", "&zero", 0, 0),
        ("const float *one = g(), *zero = g();", "DOUBLE", "one", "zero", 0, 0),
    ],
)
def test_scalars(declared, kind, alpha, beta, faults, notes):
    text = CONVOLUTION.format(declared=declared, kind=kind, alpha=alpha, beta=beta)
    assert (len(about(text, "fault")), len(about(text, "note"))) == (faults, notes)


@pytest.mark.parametrize(
    ("expression", "now"),
    [
        ("s == 3", "s == CUDNN_STATUS_BAD_PARAM"),
        ("9 != s", "s == CUDNN_STATUS_NOT_SUPPORTED"),
        ("s == 0", ""),
        ("s != CUDNN_STATUS_SUCCESS", ""),
        ("n == 3", ""),
    ],
)
def test_numbers_of_statuses(expression, now):
    findings = of(f"void f(cudnnStatus_t s, int n) {{ if ({expression}) g(); }}")
    assert [each.code for each in findings if each.kind == "fault"] == ([(now,)] if now else [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("void f() { CUDNN_CHECK(cudnnCreate(&h)); }", "note"),
        ("void f() { cudnnCreateTensorDescripter(&x); }", "unknown"),
        ("void f() { cudnnFindPlan(graph, CUDNN_MY_OPTION); }", "own"),
        ("struct cudnnTensorStruct *x;", "kept"),
        ("#ifdef CUDNN_WRAPPER\nint x;\n#endif", "own"),
        ("void f() { cudnnGetRNNParamsSize(h, r, x, &n, t); }", "gone"),
        ("#define SIZE(h) cudnnGetRNNParamsSize(h)", "gone"),
        ("void f() { cudnnSetCTCLossDescriptor(c, t); }", "note"),
        ("void f() { cublasInit(); }", "cuda"),
        ("int main() { int cudnnDevice = 0; return cudnnDevice; }", ""),
    ],
)
def test_kinds_of_names(text, kind):
    kinds = [each.kind for each in of(text) if re.match("cudnn|CUDNN|SIZE|cublas", each.name)]
    assert (kind in kinds) if kind else not kinds


def test_headers_of_the_program_are_read(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "layer.h").write_text('#include "include/base.h"\n#include "layer.h"\n')
    (tmp_path / "include/base.h").write_text(
        "#define CUDNN_DATA_FLOTA 0\nstruct Base { cudnnTensorDescriptor_t x_; float scale_; };"
    )
    program = tmp_path / "layer.cpp"
    text = "void f() { cudnnGetRNNParamsSize(h, r, x_, &n, CUDNN_DATA_FLOTA); }"
    program.write_text(f'#include "layer.h"\n#include "none.h"\n{text}')
    known = program_of(parse(program)).known
    (call,) = program_of(parse(program)).source.root.find("call_expression")
    assert known.find(call.arguments[2]).type == "cudnnTensorDescriptor_t"
    assert [each.kind for each in report_on(parse(program)).findings] == ["missing", "gone"]
    (tmp_path / "include/none.h").touch()
    found = report_on(parse(program), [tmp_path / "include"]).findings
    assert [each.kind for each in found] == ["gone"]


@pytest.mark.parametrize(
    ("declared", "passed", "writes"),
    [
        ("int size", "(size_t *)&size", "8 bytes to sizeInBytes, and size is an int of 4"),
        (
            "unsigned char size",
            "&size",
            "8 bytes to sizeInBytes, and size is an unsigned char of 1",
        ),
        ("size_t size", "&size", ""),
        ("int size[2]", "(size_t *)size", ""),
    ],
)
def test_a_variable_that_cudnn_overruns_is_a_fault(declared, passed, writes):
    found = of(f"void f() {{ {declared}; cudnnDropoutGetStatesSize(handle, {passed}); }}")
    faults = [each.text for each in found if each.kind == "fault"]
    assert len(faults) == bool(writes)
    assert all(f"cuDNN writes {writes}" in text for text in faults)


def test_misspelt_names_have_suggestions():
    (each,) = of("int x = CUDNN_DATA_FLOTA;")
    assert each.text.endswith("did you mean CUDNN_DATA_FLOAT?")


VERSION = (raw.CUDNN_MAJOR, raw.CUDNN_MINOR, raw.CUDNN_PATCHLEVEL)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("CUDNN_MAJOR >= 8", True),
        ("CUDNN_VERSION < 7000", False),
        ("(CUDNN_MAJOR * 100 + 10) >= 850", True),
        ("CUDNN_VERSION_MIN(6, 0, 0)", True),
        ("!CUDNN_VERSION_MIN(6, 0, 0)", False),
        ("defined(CUDNN_MAJOR) && CUDNN_MAJOR != 5", True),
        ("defined USE_CUDNN", None),
        ("defined(USE_CUDNN) && CUDNN_MAJOR < 8", False),
        ("defined(USE_CUDNN) || CUDNN_MAJOR > 8", True),
        ("defined(USE_CUDNN) && CUDNN_MAJOR > 8", None),
        (f"CUDNN_VERSION_MIN{VERSION}", True),
        (f"CUDNN_VERSION_MIN{(*VERSION[:2], VERSION[2] + 1)}", False),
        ("CUDNN_VERSION_MIN(x, 0, 0)", False),
        (
            "1 << 3 == 8 && 9 >> 2 == 2 && (5 ^ 3) == 6 && (6 bitand 3) == 2 && (4 bitor 1) == 5",
            True,
        ),
        (
            "-7 / 2 == -3 && -7 % 2 == -1 && 7 - 9 == -2 && +3 != -3 && ~0 == -1 && compl 1 == -2",
            True,
        ),
        ("3 > 3 || 3 < 3 || !(3 >= 3) || !(3 <= 3) || not 1 || 2 not_eq 2 || (1 xor 1)", False),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 1'000u == 1000UL && 'a' == 97 && true", True),
        ("'\\n' == 10", None),
        ("1 ? CUDNN_MAJOR : OTHER", True),
        ("OTHER ? 1 : 1", None),
        ("OTHER && 0", False),
        ("OTHER || 0", None),
        ("CUDNN_MAJOR / 0", None),
        ("", None),
        ("0", False),
    ],
)
def test_conditions_on_the_version(condition, value):
    assert holds(condition) is value


def test_what_cannot_be_read_is_said():
    (each,) = (each for each in of("int f() {\n  int x = ;\n}") if each.kind == "unread")
    assert each.line == 2


# -- the command ----------------------------------------------------------------------------------


def test_the_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["port", str(PROGRAMS / "old_rnn.cpp"), str(PROGRAMS / "clean.c")]) == 1
    text = capsys.readouterr().out
    assert "cudnnGetRNNWeightSpaceSize(handle, rnnDesc, weightSpaceSize)" in text
    assert "old_rnn.cpp: 6 gone or changed, 11 as they were" in text
    assert re.search(r"cudnnCreateTensorDescriptor +line 13", text)
    # Code stands in one line, to be copied, whatever the width.
    assert any(len(line) > 150 and "cudnnSetRNNDescriptor_v8(" in line for line in text.split("\n"))


def test_what_needs_nothing_is_a_success(capsys):
    assert main(["port", str(PROGRAMS / "clean.c")]) == 0
    assert "12 as they were" in capsys.readouterr().out


def test_json(capsys):
    assert main(["port", "--json", str(PROGRAMS / "cuda_names.cu")]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert told["language"] == "cuda"
    assert told["counts"] == {"missing": 1, "cuda": 3, "kernel": 1, "kept": 4}
    found = [(f["line"], f["kind"], f["name"]) for f in told["findings"] if f["kind"] != "kept"]
    assert found == EXPECTED["cuda_names.cu"]

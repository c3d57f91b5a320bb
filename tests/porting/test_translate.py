"""What is not translated is told and raises; what the programs look like; the command."""

from __future__ import annotations

import ctypes
import re
import sys

import numpy as np
import pytest
from programs import ROOT, run_command

from cudnn_ctypes.__main__ import main
from cudnn_ctypes.porting.runtime import memcmp
from cudnn_ctypes.porting.translate import translate

from .translated import of, run_python

pytest.importorskip("tree_sitter")


def body(statements: str, name: str = "program.c") -> list[str]:
    """The Python of statements in a function, without the numbers of lines."""
    python = of(f"void f(int n, float x, int *p) {{\n{statements}\n}}", name).python
    lines = python.partition("def f(n, x, p):")[2].split("\n")[1:]
    return [line[4:].partition("  # ")[0] for line in lines if line.strip()]


@pytest.mark.parametrize(
    ("c", "python"),
    [
        ("int a = n / 2;", "a = int_div(n, 2)"),
        ("unsigned u = 7; u /= 2;", "u //= 2"),
        ("x = x * 2;", "x = x * 2"),
        ("double d = x * 0.5;", "d = float(x) * 0.5"),
        ("x = n;", "x = float32(n)"),
        ("p[1] += 3;", "p[1] += 3"),
        ("for (int i = 0; i < n; i++) p[i] = i;", "for i in range(n):"),
        ("for (int i = n; i >= 0; i -= 2) p[i] = i;", "for i in range(n, -1, -2):"),
        ("for (int i = 0; i <= n; i++) p[i] = i;", "for i in range(n + 1):"),
        ("for (int i = 9; i >= n; i--) p[i] = i;", "for i in range(9, n - 1, -1):"),
        ("for (int i = 0; i < n; i++) n--;", "while i < n:"),
        ("x = -x;", "x = -x"),
        ("x = +x;", "x = x"),
        ("unsigned u = 7; u = ~u;", "u = uint32(~u)"),
        ("for (int i = -1; i < sizeof(n); i++) n += i;", "while uint64(i) < sizeof(c_int):"),
        ("if (!p) return;", "if is_null(p):"),
        ("n = p ? 1 : 2;", "n = 1 if not is_null(p) else 2"),
        ("p = p + n;", "p = offset(p, n, c_int)"),
        ("float (*f)(int); x = f(n);", "x = f(n)"),
        ('fputs("a", stderr);', 'fputs("a", stderr)'),
        (
            "float *q; if (n && cudaMalloc((void **)&q, 4)) n = 1;",
            "if n and cudart.cudaMalloc.unchecked(byref(q := cudart.DevicePointer(c_float)), 4):",
        ),
        ("unsigned long long h = 1; h *= 3;", "h = uint64(h * 3)"),
        ('printf("%d\\n", n);', 'printf("%d\\n", n)'),
    ],
)
def test_statements_look_like_python(c, python):
    assert python in body(c)


def test_a_struct_beside_its_variable_has_a_class_of_its_own():
    python = of("struct Pair { int a; } one;\nstruct { int b; } two;\n").python
    for name, variable in (("Pair", "one"), ("Struct2", "two")):
        assert f"class {name}(Struct):" in python
        assert f"\n{variable} = {name}()" in python


@pytest.mark.parametrize("right", [b"abc", b"abd", b"a\0c", b"\xffbc", b"abcz"])
def test_comparing_bytes_is_c_s(right):
    theirs = ctypes.CDLL(None).memcmp
    for one, other in ((b"abc", right), (right, b"abc")):
        got = memcmp(*(ctypes.create_string_buffer(each) for each in (one, other)), 3)
        assert np.sign(got) == np.sign(theirs(one, other, 3))


@pytest.mark.parametrize(
    "c",
    [
        "std::map<int, int> m; m[1] = 2;",
        'std::ifstream in("weights.txt"); in >> n;',
        'std::ofstream out("weights.txt"); out << n;',
        "std::ostringstream text; text << n;",
        "int &same = n; same = 5;",
        "const int &same = n; n++; x = same;",
        "std::vector<int> v(2); for (int &one : v) { int *q = &one; n = *q; }",
        "A a;",
        "A *a = new A(1);",
        "int *q = new int[2];",
        "delete p;",
        "A<int> a;",
        "own::f(n);",
        "k<<<1, 2>>>(p);",
        "dim3 grid(1, 2);",
        "std::string s = std::to_string(n);",
        'std::string s = "a"; n = s.find("a");',
        "std::cout << std::setw(4) << n;",
        "std::cout << n++ << n;",
        "int grid[2][3]; int (*row)[3] = &grid[1]; n = row[0][1];",
        "int grid[2][3]; n = (*(grid + 1))[2];",
        "std::cout << std::scientific << x;",
        "std::cout << std::setprecision(3) << x;",
        "n = *std::max_element(p, p + n);",
        "n = std::max<float>(n, x);",
        "std::string line; std::getline(std::cin, line);",
        "std::sort(p, p + n);",
        "std::fill(p, p + n, 1);",
        "std::cout << std::boolalpha << (n > 1);",
        "auto f = [](int a) { return a; }; n = f(2);",
        "union { int i; float f; } u; u.f = x;",
        "int (*function)(int) = 0; n = function(3, 4);",
        'asm("nop");',
        "try { n = 1; } catch (const Mine &mine) { n = 2; }",
        "n = reinterpret_cast<long>(p);",
        "p = (int *)(n + 1);",
        "unknown_function(n);",
        "unknown_type t; t.x = 3;",
        "start: n--; if (n) goto start;",
        "switch (n) { case 1: if (x > 0) break; continue; }",
        "switch (n) { n = 2; case 1: n = 3; }",
        "if (int m = n) n = m;",
        "static std::vector<int> v;",
        "auto g = f; n = g(1, x, p);",
        "int a[3] = {[1] = 5}; n = a[1];",
        "std::string s{'a', 'b'};",
        "std::string s = \"a\"; s = s + 'b';",
        "std::vector<int> v, w; n = v == w;",
        "void *v = p; v = v + 1;",
        "cudnnCreate();",
        "p = +p;",
        "n = 07.5p1;",
    ],
)
def test_what_is_not_known_raises(c):
    text = "struct A { ~A() {} }; "
    translation = of(f"{text} void f(int n, float x, int *p) {{\nwhile (n) {{ {c} }}\n}}\n")
    assert {line for line, _ in translation.not_translated} == {"1", "2"}
    assert "raise NotTranslatedError(" in translation.python
    assert "# NOT TRANSLATED: " in translation.python


@pytest.mark.parametrize(
    "c",
    [
        "template <typename T> T twice(T x) { return x + x; }",
        "struct A { int a; }; struct B : A { int b; };",
        "struct A { virtual int f() { return 1; } };",
        "struct A { ~A() {} };",
        "struct A { A(int b) : a(b) {} int a; };",
        "struct A { int a = 1; };",
        "int f(int n = 1) { return n; }",
        "class A { int a; };",
        "namespace own { int f() { return 1; } }",
        "__global__ void k(int *p) { *p = 1; }",
        "__constant__ int limit;",
        "struct A { int a; A operator+(A b) { return b; } };",
        "struct A { int a; operator int() const { return a; } };",
        "void Layer::forward() { n_ = 1; }",
        "int Layer::count = 0;",
        "REGISTER_LAYER(Sigmoid);",
    ],
)
def test_definitions_that_are_not_known_are_told(c):
    translation = of(c)
    assert [line for line, _ in translation.not_translated] == ["1"]
    assert "# NOT TRANSLATED: " in translation.python


def test_a_part_that_is_not_translated_raises_when_it_is_reached(tmp_path):
    text = """
    #include <stdio.h>
    int main(int argc, char **argv) {
      printf("before\\n");
      if (argc > 1) { __builtin_trap(); }
      printf("after\\n");
    }
    """
    python = of(text, "program.c").python
    done = run_python(python, tmp_path)
    assert (done.returncode, done.stdout) == (0, "before\nafter\n")
    done = run_python(python, tmp_path, "argument")
    assert (done.returncode, done.stdout) == (1, "before\n")
    assert "NotTranslatedError: line 5: a function that is not known" in done.stderr


def test_a_program_whose_conditions_leave_nothing_is_told(tmp_path, capsys):
    source = tmp_path / "a.cpp"
    source.write_text("#ifdef USE_CUDNN\nint main() { return 3; }\n#endif\n")
    main(["port", "--translate", str(source)])
    printed = capsys.readouterr().err
    assert "nothing is left of it by its #if conditions" in printed
    assert "everything was translated" not in printed


def test_macros_that_check_statuses_become_plain_calls():
    text = """
    #define CHECK(x) do { cudnnStatus_t s = (x); if (s != CUDNN_STATUS_SUCCESS) exit(1); } while (0)
    void f() {
      cudnnHandle_t handle;
      CHECK(cudnnCreate(&handle));
      cudnnStatus_t status = cudnnDestroy(handle);
      if (status != CUDNN_STATUS_SUCCESS) exit(2);
    }
    """
    python = of(text).python
    assert "    raw.cudnnCreate(handle)  # 5" in python
    assert "    status = raw.cudnnDestroy.unchecked(handle)  # 6" in python


def test_macros_that_choose_between_nothing_and_failing_are_checks():
    text = """
    #define CHECK(e) ((e) == 0 ? (void)0 : abort_with(#e, __LINE__))
    void f(cudnnHandle_t *handle) { CHECK(cudnnCreate(handle)); }
    """
    assert "    raw.cudnnCreate(handle)  # 3" in of(text, "program.c").python


def test_members_of_device_properties_are_text_and_arrays():
    text = """
    void f() {
      cudaDeviceProp prop;
      cudaGetDeviceProperties(&prop, 0);
      std::cout << prop.name << prop.maxGridSize[1] << std::endl;
    }
    """
    assert "cout(prop.name, prop.maxGridSize[1]," in of(text).python


def test_names_that_are_gone_are_those_of_v7():
    text = (
        "void f(cudnnRNNDescriptor_t rnn) { cudnnSetRNNMatrixMathType(rnn, CUDNN_DEFAULT_MATH); }"
    )
    python = of(text).python
    assert "v7.cudnnSetRNNMatrixMathType(rnn, raw.CUDNN_DEFAULT_MATH)" in python
    assert "from cudnn_ctypes.compat import v7" in python


def test_conditions_of_the_preprocessor_are_decided():
    text = """
    #if CUDNN_VERSION >= 9000 && !defined(OLD)
    int chosen = 1;
    #elif defined(OLD)
    int chosen = 2;
    #else
    int chosen = 3;
    #endif
    """
    assert "chosen = 1  # 3" in of(text).python
    assert "chosen = 2  # 6" in of("#define OLD\n" + text).python


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("-7 / 2 == -3 && -7 % 2 == -1", True),
        ("010 == 8 && 0b11 == 3 && 1'000 == 1000 && 'a' == 97", True),
        ("1 ? 0 : 1 / 0", False),
        ("0 && 1 / 0 || !defined SUM && ~0 == -1", False),
        ("SUM * 2 == 5 && LEAST(9, 0) && !LEAST(99, 0)", True),
        ("ITSELF + UNKNOWN == 1 && true", True),
        ("(1 << 62) >> 61 == 2 and not false", True),
    ],
)
def test_conditions_are_computed_with_integers_of_c(condition, met):
    text = f"""
    #define SUM 1 + 2
    #define LEAST(x, y) (CUDNN_VERSION >= (x) * 10000 + (y) * 100)
    #define ITSELF ITSELF + 1
    #if {condition}
    int chosen;
    #endif
    """
    translation = of(text)
    assert translation.not_translated == []
    assert ("chosen" in translation.python) == met


_DOUBLING = "\n".join(f"#define L{i} L{i + 1}+L{i + 1}" for i in range(40)) + "\n#define L40 1\n"
_CALLS = re.sub(r"(L\d+)", r"\1(x)", _DOUBLING)
_MUTUAL = "#define B C C C\n#define C D D D\n#define D B B B\n"


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#if 9*9**9**9**9\n#endif\n", 1),
        ("#if 1 / 0\n#endif\n", 1),
        ("#if __has_include(<cudnn.h>)\n#endif\n", 1),
        ("#if 1" + "+1" * 200_000 + "\n#endif\n", 1),
        (f"{_MUTUAL}#if B\n#endif\n", 4),
        (f"{_DOUBLING}#if L0\n#endif\n", 42),
        (f"{_CALLS}int x = L0(1);\n", 42),
        ("#define X 1" + "+1" * 20_000 + "\nint x = X;\n", 2),
        ("int x = " + "(" * 3000 + "1" + ")" * 3000 + ";\n", 1),
        ("int x = " + "f(" * 3000 + "1" + ")" * 3000 + ";\n", 1),
        ("void f() { " + "{" * 3000 + "int x = 1;" + "}" * 3000 + " }\n", 1),
        ("int " + "*" * 3000 + "x;\n", 1),
        ("#define LOOP(i) for (int i = 0; i < 3; i++)\nvoid f() {\nLOOP(a, b) { }\n}\n", 3),
    ],
)
def test_work_without_bound_is_told_by_its_line(text, line):
    translation = of(f"{text}int main() {{ return 3; }}\n")
    assert str(line) in {where for where, _ in translation.not_translated}
    assert "return 3" in translation.python


def test_a_text_with_nul_is_none(tmp_path, capsys):
    source = tmp_path / "a.cpp"
    source.write_text('#include "helper.h"\nint main() {}\n')
    (tmp_path / "helper.h").write_text("int x;\0")
    assert main(["port", "--translate", str(source)]) == 2
    assert "helper.h: this is no text" in capsys.readouterr().err
    source.write_text("int main() {}\n" * 1000 + "\0")
    assert main(["port", "--translate", str(source)]) == 2
    assert "a.cpp: this is no text" in capsys.readouterr().err


def test_a_program_of_several_files_and_folders_is_one_in_python(tmp_path, capsys):
    (tmp_path / "include").mkdir()
    (tmp_path / "include/sizes.h").write_text("#define FOUR 4\n")
    (tmp_path / "helper.h").write_text("#pragma once\n#include <sizes.h>\nint twice(int x);\n")
    helper, program, target = (tmp_path / name for name in ("helper.c", "main.c", "main.py"))
    # Stra\xdfe: a comment in Latin-1.
    helper.write_bytes(
        b'#include "helper.h"\n/* Stra\xdfe */\nint twice(int x) { return 2 * x; }\n'
    )
    program.write_text(
        '#include "helper.h"\n#include "missing.h"\nint main() { return twice(FOUR); }\n'
    )
    command = ["port", "--translate", str(helper), str(program), "-o", str(target)]
    assert main(command) == 1
    _, _, first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "  line 2: a header that is not found, missing.h: -I names its folder"
    assert last.endswith(f"build {helper} {program} -o main && python -m cudnn_ctypes run ./main")

    (tmp_path / "include/missing.h").touch()
    assert main([*command, "--force", "-I", str(tmp_path / "include")]) == 0
    python = target.read_text()
    assert "# Stra\xdfe" in python
    assert "def twice(x):  # helper.c:3" in python
    assert "def main():  # 3" in python
    assert run_command(sys.executable, target).returncode == 8


EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


@pytest.mark.soak
@pytest.mark.parametrize("example", EXAMPLES[1::8], ids=lambda path: path.stem)
def test_c_that_was_recorded_comes_back(example, tmp_path):
    """`trace --c` writes an example's calls as C; in Python again they compute the same numbers."""
    trace = (sys.executable, "-m", "cudnn_ctypes", "trace", "--first", 60, "--c", tmp_path)
    done = run_command(*trace, example, CUDNN_CTYPES_DEVICE="reference")
    assert done.returncode == 0, done.stderr
    (program,) = tmp_path.glob("*.c")
    translation = translate(program)
    assert translation.not_translated == []
    done = run_python(translation.python, tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(line.endswith("equal") for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    "checks",
    [
        "#define CHECK(x) { int s = (x); count++; if (s) exit(1); }",
        "#define CHECK(x) do { if ((x) == 0) count++; else exit(1); } while (0)",
        "static void check(cudnnStatus_t s) { count++; if (s) exit(1); }\n#define CHECK check",
    ],
)
def test_what_does_more_than_check_a_status_is_not_left_out(checks, tmp_path):
    text = f"""
    #include <cudnn.h>
    static int count = 0;
    {checks}
    int main() {{
      cudnnTensorDescriptor_t d;
      CHECK(cudnnCreateTensorDescriptor(&d));
      CHECK(cudnnDestroyTensorDescriptor(d));
      return count;
    }}
    """
    done = run_python(of(text, "program.c").python, tmp_path)
    assert done.returncode == 2, done.stderr


def test_a_macro_that_changes_its_meaning_is_not_translated():
    translation = of("#define N 1\nint a = N;\n#undef N\n#define N 2\nint b = N;\n")
    assert [line for line, _ in translation.not_translated] == ["2", "5"]
    assert "defined twice" in translation.not_translated[0][1]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("n = (a + 1)[3];", "IndexError: element 4 of host memory with 4 elements"),
        ("memcpy(a, b, 20);", "IndexError: memcpy: 20 bytes of host memory with 16"),
        ('sscanf("1", "%ld", (long *)&n);', "IndexError: scanf: %ld: 8 bytes"),
        ("std::vector<int> v(2); v[2] = 1;", "IndexError: element 2 of a vector of 2"),
        ('FILE *f = fopen(__FILE__, "r"); fclose(f); fgetc(f);', "expected an open file"),
    ],
)
def test_memory_that_is_not_the_program_s_is_an_error(statement, told, tmp_path):
    text = f"""
    #include <cstdio>
    #include <cstring>
    #include <vector>
    int main() {{
      int n = 0, memory[4] = {{1, 2, 3, 4}}, other[8] = {{0}}, *a = memory, *b = other;
      {statement}
      return n;
    }}
    """
    translation = of(text)
    assert translation.not_translated == []
    done = run_python(translation.python, tmp_path)
    assert told in done.stderr

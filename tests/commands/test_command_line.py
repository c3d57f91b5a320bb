"""What all commands have in common: versions, files, Ctrl-C, progress, completion."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from programs import run_command
from rich.console import Console

from cudnn_ctypes import Graph, commands
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands import build as build_command
from cudnn_ctypes.commands import compile as compile_command
from cudnn_ctypes.commands import options
from cudnn_ctypes.commands import run as run_module
from cudnn_ctypes.commands.completion import script
from cudnn_ctypes.commands.options import Output, refuse_overwriting, write_text
from cudnn_ctypes.evidence.files import CommandError


def product(path: Path) -> Path:
    graph = Graph(path.stem, io_data_type="float16")
    graph.matmul(graph.tensor((1, 64, 64)), graph.tensor((1, 64, 64))).set_output()
    path.write_text(graph.to_json())
    return path


@pytest.mark.parametrize("command", commands.COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert commands.COMMANDS[command].split()[0] in capsys.readouterr().out


# --- files ---------------------------------------------------------------------------------------


def test_endings_are_of_any_case_and_devices_have_none():
    assert Output("X.PNG").file("", ".png") == Path("X.PNG")
    assert Output("/dev/null").file("", ".png") == Path("/dev/null")
    assert (options.from_zero("0"), options.positive("1")) == (0, 1)


def test_nothing_is_overwritten_unasked(tmp_path):
    file = tmp_path / "folder" / "a.txt"
    write_text(file, "one")
    with pytest.raises(CommandError, match=r"a\.txt: it is there already; --force writes over"):
        write_text(file, "two")
    assert file.read_text() == "one"
    write_text(file, "two", force=True)
    assert file.read_text() == "two"
    for there in (file, file.parent):
        with pytest.raises(CommandError, match="--force"):
            refuse_overwriting([None, there], force=False)
        refuse_overwriting([there], force=True)
    (tmp_path / "empty").mkdir()
    refuse_overwriting([tmp_path / "empty", tmp_path / "none", Path("/dev/null")], force=False)
    write_text(Path("/dev/null"), "one")


def test_compile_refuses_before_it_compiles(tmp_path, monkeypatch, capsys):
    source = product(tmp_path / "a.json")
    (tmp_path / "a.plan.json").write_text("mine")
    monkeypatch.setattr(
        compile_command, "compile_graphs", lambda *_, **__: pytest.fail("it compiled")
    )
    assert main(["compile", str(source), "--device", "h200"]) == 2
    assert "a.plan.json: it is there already" in capsys.readouterr().err
    assert (tmp_path / "a.plan.json").read_text() == "mine"


def test_compile_into_a_folder_that_is_not_there_with_json(tmp_path, capsys):
    source = product(tmp_path / "a.json")
    words = ["compile", str(source), "--device", "h200", "--json", "-o", f"{tmp_path}/new/"]
    assert main(words) == 0
    (told,) = json.loads(capsys.readouterr().out)
    plan = tmp_path / "new" / "a.plan.json"
    assert told["plan"] == str(plan)
    assert told["engine"].startswith("engine ")
    assert plan.is_file()


def test_port_and_trace_into_folders_and_over_nothing(tmp_path, capsys):
    pytest.importorskip("tree_sitter")
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 3; }\n")
    words = ["port", "--translate", str(source), "-o", f"{tmp_path}/out/", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["output"] == str(tmp_path / "out" / "a.py")
    assert main(words) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0

    program = tmp_path / "program.py"
    program.write_text("print('ran')\n")
    for option, name in (("-o", "calls.txt"), ("--json", "calls.json")):
        words = ["trace", option, f"{tmp_path}/traces/", str(program)]
        assert main(words) == 0
        assert (tmp_path / "traces" / name).is_file()
        capsys.readouterr()
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert "ran" not in out
        assert "--force" in err


def test_a_program_that_cannot_be_read_has_no_traceback(tmp_path, capsys):
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\0\0")
    for words in (["-m", "no_such_module"], [str(binary)]):
        assert main(["trace", *words]) == 1
        message = capsys.readouterr().err
        assert "Traceback" not in message
        assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("program", "status", "err"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('why')", 1, "why\n"),
        ("raise KeyboardInterrupt", 130, ""),
        ("print(sys.argv[1:], sys.path[0], file=sys.stderr)", 0, "['--json', 'x'] {folder}\n"),
    ],
)
def test_a_traced_program_ends_as_without(program, status, err, tmp_path, capsys):
    before = sys.argv[:], sys.path[:]
    file = tmp_path / "program.py"
    file.write_text(f"import sys\n{program}\n")
    assert main(["trace", str(file), "--json", "x"]) == status
    assert capsys.readouterr().err == err.format(folder=tmp_path)
    assert (sys.argv, sys.path) == before
    assert main(["trace", "--stats", str(file)]) == status
    assert "function" in capsys.readouterr().err


def test_a_watched_program_that_calls_nothing(tmp_path, capfd):
    program, folder = tmp_path / "program.py", tmp_path / "new"
    program.write_text("import sys\nprint('ran', sys.argv[1:])\nsys.exit(3)\n")
    words = ["watch", "--json", "--save", f"{folder}/", "--html", f"{folder}/", str(program), "--x"]
    assert main(words) == 3
    out, err = capfd.readouterr()
    told = json.loads(out)
    assert (told["source"], told["graphs"], told["calls"]) == (f"{program} --x", [], {})
    assert err == "ran ['--x']\nwatch: the program called nothing of cuDNN\n"
    assert {path.name for path in folder.iterdir()} == {"cudnn.log.gz", "watch.html"}
    assert f"{program} --x" in (folder / "watch.html").read_text()
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    assert main(["watch", str(program)]) == 128 + 15


def test_what_build_passes_on(monkeypatch):
    passed = []
    monkeypatch.setattr(
        build_command, "build", lambda *words, **named: passed.append((words, named))
    )
    line = "build src/a.cu b.cpp -I inc -D N=64 -l m -L lib -fopenmp"
    assert main(line.split()) == main([*line.split(), "--device", "gpu", "-o", "to"]) == 0
    files = [Path("src/a.cu"), Path("b.cpp")]
    named = {"includes": [Path("inc")], "options": ["-DN=64", "-Llib", "-lm", "-fopenmp"]}
    assert passed == [
        ((files, Path("a")), {**named, "for_gpu": False}),
        ((files, Path("to")), {**named, "for_gpu": True}),
    ]


def test_what_run_passes_on(tmp_path, monkeypatch):
    passed = []

    def environment(program, **options):
        passed.append((program.name, options))
        return {"SET": "1"}

    def execve(*words):
        passed.append(words)
        sys.exit(7)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_module, "environment", environment)
    monkeypatch.setattr(run_module, "build", lambda *words, **named: passed.append((words, named)))
    monkeypatch.setattr(os, "execve", execve)
    shell = shutil.which("sh")
    words = "--trace --nan --stats --json new/ --py r.py --c out --strict --guard-pages sh -c --nan"
    with pytest.raises(SystemExit):
        main(["run", *words.split()])
    recordings = ["nan", "stats", "1"]
    recordings += [f"{tmp_path}/{name}" for name in ("new/calls.json", "r.py", "out/")]
    checks = ["strict", "guard_pages"]
    assert passed == [
        ("sh", {"device": "reference", "recordings": recordings, "checks": checks}),
        (Path(shell), [shell, "-c", "--nan"], {"SET": "1"}),
    ]
    passed.clear()
    with pytest.raises(SystemExit):
        main(["run", "--device", "gpu", "a.CU", "1"])
    ((files, output), for_gpu), asked, (program, started, _) = passed
    assert (files, output.name, for_gpu) == ([Path("a.CU")], "a", {"for_gpu": True})
    assert asked == ("a", {"device": "gpu", "recordings": [], "checks": []})
    assert (program, started) == (output, [str(output), "1"])


def test_ctrl_c_is_quiet_and_keeps_what_is_done(tmp_path, monkeypatch, capsys):
    sources = [product(tmp_path / f"{name}.json") for name in "ab"]
    compiled = compile_command.compile_graphs

    def interrupted(texts, *arguments, **options):
        compiled(texts[:1], *arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(compile_command, "compile_graphs", interrupted)
    assert main(["compile", *map(str, sources), "--device", "h200", "--json"]) == 130
    out, err = capsys.readouterr()
    assert err == ""
    assert [each["graph"] for each in json.loads(out)] == [str(sources[0])]
    assert (tmp_path / "a.plan.json").is_file()
    assert not (tmp_path / "b.plan.json").exists()


def test_a_terminal_gets_a_bar_with_the_time_left(monkeypatch):
    file = io.StringIO()

    def console(stderr=False, **options):
        return Console(file=file, force_terminal=stderr, width=60, highlight=False)

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(options, "Console", console)
    with options.steps("working", 2) as steps:
        (task,) = steps._bar.tasks
        assert task.total == 2
        steps.begin("one")
        steps.expect(4)
        steps.advance()
        steps.tell("a result")
        assert (task.description, task.total, task.completed) == ("working: one", 4, 1)
    text = file.getvalue()
    assert "working: one" in text
    assert "0:00:00" in text or "-:--:--" in text
    assert "a result\n" in text


# --- completion ----------------------------------------------------------------------------------


def completed(*words: str) -> list[str]:
    """What bash offers for the last word."""
    typed = " ".join(f"'{word}'" for word in ("cudnn-ctypes", *words))
    program = (
        f"{script('bash')}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words)}; _cudnn_ctypes\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_and_choices():
    assert completed("do") == ["doctor"]
    assert set(completed("")) >= set(commands.COMMANDS)
    assert completed("doctor", "--re") == ["--report"]
    assert completed("compile", "a.json", "--heu") == ["--heuristics"]
    assert completed("compile", "--heuristics", "fall") == ["fallback"]
    assert completed("demo", "--device", "c") == ["cuda"]
    assert completed("bench", "conv") == ["convolution"]
    assert completed("bench", "matmul", "1x2", "--device", "l4") == ["l4", "l40s"]
    assert completed("devices", "h") == ["h100", "h200"]
    assert completed("bench", "a.j") == []
    assert completed("compile", "a.j") == []  # so that bash completes files


def test_zsh_gets_the_same_by_its_own_functions(capsys):
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out == script("zsh")
    assert script("zsh").endswith(script("bash"))
    assert "bashcompinit" in script("zsh")


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes_them_too():
    program = f"{script('fish')}\ncomplete -C 'cudnn-ctypes compile --heuristics fall'\n"
    done = subprocess.run(["fish", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fallback"]


def test_fish_and_man_are_told_every_command_and_option():
    fish, page = script("fish"), script("man").replace("\\-", "-")
    for name, about in commands.COMMANDS.items():
        assert f"-a {name} -d " in fish
        assert f".SS {name}\n" in page
        assert about.split()[0] in page
    assert "__fish_seen_subcommand_from compile' -l heuristics" in fish
    assert "--heuristics" in page


# --- the habits of a shell -----------------------------------------------------------------------


def in_a_shell(line: str, **options: Any) -> Any:
    line = line.replace("cudnn-ctypes", f"'{sys.executable}' -m cudnn_ctypes")
    return run_command("bash", "-c", line, **options)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_gives_one_line(tmp_path):
    (tmp_path / "program.py").touch()
    message = "cudnn-ctypes: the output cannot be written: No space left on device\n"
    for words in ("devices > /dev/full", "trace --json /dev/full program.py"):
        done = in_a_shell(f"cudnn-ctypes {words}", folder=tmp_path)
        assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.soak
def test_a_closed_output_is_no_error():
    done = in_a_shell("cudnn-ctypes devices >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert in_a_shell("cudnn-ctypes devices >&- 2>&-").returncode == 0


@pytest.mark.soak
def test_a_broken_pipe_has_the_status_of_its_signal():
    done = in_a_shell("cudnn-ctypes completion bash | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == ("141\n", "")


@pytest.mark.soak
def test_a_piped_table_is_neither_padded_nor_cut():
    lines = in_a_shell("COLUMNS=40 cudnn-ctypes devices | cat").stdout.splitlines()
    assert max(map(len, lines)) > 50
    assert not [line for line in lines if line.endswith((" ", "…"))]


@pytest.mark.soak
def test_a_dash_is_the_standard_input(tmp_path):
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((2, 8, 8), name="x")).set_output(name="y")
    graph.validate()
    done = in_a_shell("cudnn-ctypes explain - --device h200 --json", given=graph.to_json())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


@pytest.mark.parametrize("line", ["explain - --device h200", "trace --read -"])
def test_what_is_wrong_in_the_standard_input(line, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"no graph")))
    assert main(line.split()) == 2
    assert "/standard input: " in capsys.readouterr().err

"""The demonstration: the picture that it draws, its file format, and its command."""

import json
import zlib

import numpy as np
import pytest
from programs import run_program

from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands import demo
from cudnn_ctypes.commands.demo import landscape, png
from cudnn_ctypes.evidence.files import CommandError


def test_png_is_read_back_by_another_library(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(1).uniform(-0.2, 1.2, (5, 7, 3))
    path = tmp_path / "a.png"
    path.write_bytes(png(pixels))
    with image.open(path) as read:
        assert (read.size, read.mode) == ((7, 5), "RGB")
        expected = np.rint(np.clip(pixels, 0, 1) * 255)
        np.testing.assert_array_equal(np.asarray(read), expected)


def test_the_oracle_finds_a_wrong_pixel():
    picture = landscape(20, 30)
    signal = pytest.importorskip("scipy.signal")
    brightness = picture.astype(np.float64) @ np.array(demo._LUMINANCE)
    right = np.stack(
        [signal.correlate2d(brightness, kernel, mode="same") for kernel in demo._filters().values()]
    )
    assert demo._largest_error(picture, right) < 1e-12
    right[3, 4, 5] += 0.01
    assert demo._largest_error(picture, right) == pytest.approx(0.01)
    right[0, 0, 0] = np.nan
    assert demo._largest_error(picture, right) == float("inf")


@pytest.fixture
def small(monkeypatch, reference_device):
    monkeypatch.setattr(demo, "landscape", lambda: landscape(32, 48))


# The brightness of the picture and its six filtered forms, each in four rows.
SHEET = """\
++++++++**++@@========++==@@*++++++++*+*@@
+++*********@@=+++******++@@*+++*******#@@
::----------@@::----------@@-:------:---@@
---=========@@-----=====--@@==-==+=+====@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
*====+==+==-@@************@@#++++++++++#@@
*++++++=+==-@@=======+====@@*+=+++++==+*@@
++++=+==++=-@@============@@*==+=====+=+@@
*++++++====-@@============@@*++++*++++**@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
%#######%+#=@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
*---=++==-=.@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
+===-=--=--:@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
*+++++=====:@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"""


def test_the_command(small, tmp_path, capsys):
    assert main(["demo", "--device", "reference", "-o", f"{tmp_path}/new/"]) == 0
    file = tmp_path / "new" / "cudnn_demo.png"
    packed = file.read_bytes()[41:-16]  # between the heads of the chunks and the last one
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(120, 1 + 168 * 3)
    assert not lines[:, 0].any()
    blocks = lines[:, 1:].reshape(15, 8, 42, 4 * 3).mean((1, 3))
    shades = ["".join(" .:-=+*#%@"[int(10 * each / 256)] for each in row) for row in blocks]
    assert shades == SHEET.splitlines()
    out = capsys.readouterr().out
    assert f"picture written to {file}" in out.splitlines()
    words = " ".join(out.split())
    assert "horizontal edges" in words
    assert "within the tolerance" in words


def test_nothing_is_overwritten_and_nothing_run_before_that_is_known(
    small, tmp_path, monkeypatch, capsys
):
    file = tmp_path / "a.png"
    file.write_text("mine")
    words = ["demo", "--device", "reference", "-o", str(file), "--json"]
    with monkeypatch.context() as patched:
        patched.setattr(demo, "landscape", lambda: pytest.fail("it was run"))
        assert main(words) == 2
    assert "--force writes over it" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert main([*words, "--force"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agrees"] is True
    assert told["picture"] == str(file)
    assert "reference device" in told["device"]
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_can_only_be_read_costs_the_picture_alone(
    small, tmp_path, monkeypatch, capsys
):
    def refuse(path, data, *, force):
        raise CommandError(f"{path}: it cannot be written")

    monkeypatch.setattr(demo, "write_bytes", refuse)
    monkeypatch.chdir(tmp_path)
    words = ["demo", "--device", "reference"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == "demo: cudnn_demo.png: it cannot be written\n"
    assert "within the tolerance" in " ".join(out.split())
    assert "picture written" not in out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["picture"] is None
    assert main([*words, "-o", "named.png"]) == 2


@pytest.mark.soak
def test_it_needs_none_of_the_extra_packages(tmp_path):
    program = """
        import sys
        for name in ("sklearn", "scipy", "PIL", "matplotlib"):
            sys.modules[name] = None  # importing it raises
        from cudnn_ctypes.commands import demo
        from cudnn_ctypes.__main__ import main
        draw = demo.landscape
        demo.landscape = lambda: draw(16, 24)
        sys.exit(main(["demo", "--device", "reference", "-o", "out.png"]))
    """
    run_program(program, folder=tmp_path)
    assert (tmp_path / "out.png").is_file()


@pytest.mark.gpu
def test_on_the_gpu(tmp_path, capsys):
    assert main(["demo", "--device", "cuda", "-o", str(tmp_path / "a.png"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agrees"]
    assert "reference" not in told["device"]

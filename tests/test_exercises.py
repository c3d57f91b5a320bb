"""The course's exercises: each solution is right, and wrong answers get helpful explanations."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest
from programs import ROOT

from cudnn_ctypes import DeviceTensor, raw, use_reference_device
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands import examples as grading
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

COURSE = ROOT / "examples" / "notebooks"
FILES = grading.lesson_files(COURSE)
SLOW = {"08", "09", "10"}  # graphs whose engines compile for seconds
LESSONS = [
    pytest.param(number, marks=[pytest.mark.soak] * (number in SLOW), id=number) for number in FILES
]


@pytest.fixture(autouse=True)
def device(monkeypatch):
    monkeypatch.syspath_prepend(COURSE)
    with use_reference_device(device="H200"):
        yield


def solved(number):
    return importlib.import_module(f"solutions.{FILES[number].stem}")


@pytest.mark.thinned(6)
@pytest.mark.parametrize("number", LESSONS)
def test_solutions_are_right_and_usual_mistakes_are_named(number):
    exercises = grading.lesson(FILES[number]).exercises
    assert len(exercises) == 3
    assert any(each.calls for each in exercises.values())
    for name, exercise in exercises.items():
        assert repr(exercise.check(getattr(solved(number), name))) == "Right."
        assert list(grading.solutions(COURSE, name)) == [name]
        for nonsense in (None, "y", [1, "y"], object(), np.full((2, 2), np.nan), ([1], [1, 2])):
            assert not exercise.check(lambda *given, nonsense=nonsense: nonsense)
        for said, formula in exercise.mistakes.items():
            verdict = exercise.check(formula)
            assert not verdict, (name, said)
            assert said in verdict.text or "result 2" in verdict.text or "returns" in verdict.text


def convolve(picture, taps, **options):
    filters = np.zeros((1, picture.shape[1], 3, 3), "float32")
    filters[0, 0, 1] = taps
    return solved("02").convolve(picture, filters, **options)


def leaves_one_open(values):
    desc = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(desc)
    return solved("00").sigmoid_of(values)


def freed(values):
    with DeviceTensor.from_numpy(values) as x:
        pass
    return x.numpy()


# Three lessons as someone new works them through: two wrong answers to each exercise.
WRONG = [
    ("00", "order", lambda: ["launch"], "each step must be there once"),
    ("00", "order", lambda: sorted(solved("00").order()), "step 7, launch: BadParamError"),
    ("00", "relu_of", lambda x: np.maximum(x, 0), "no call of cudnnActivationForward was made"),
    ("00", "relu_of", lambda x: x.relu(), "'numpy.ndarray' object has no attribute 'relu'"),
    ("00", "sigmoid_of", leaves_one_open, "cudnnCreateTensorDescriptor was called without"),
    ("00", "sigmoid_of", freed, "closed"),
    ("02", "edges", lambda x: convolve(x, [1, 0, -1]), "the sign is wrong"),
    ("02", "edges", lambda x: convolve(x, [-1, 0, 1], padding=0), "the border of zeros is missing"),
    ("02", "grey", lambda x: x.mean(axis=1, keepdims=True), "no call of cudnnConvolutionForward"),
    ("02", "grey", lambda x: None, "the line with `return` is missing"),
    ("02", "blur_each", lambda x: 9 * solved("02").blur_each(x), "the sum of 9 pixels"),
    ("02", "blur_each", lambda x: solved("02").blur_each(x)[:, :, ::-1], "flipped along axis 2"),
    ("04", "bias_gradient", lambda dy: dy.mean((0, 2, 3)), "this is the mean"),
    ("04", "bias_gradient", lambda dy: dy.sum((0, 2, 1)), "works along the wrong axis"),
    ("04", "input_gradient", lambda dy: dy, "the parameters must be those of the first attempt"),
    ("04", "input_gradient", lambda w, dy: dy, "the shape is (2, 4, 5, 6), not (2, 3, 5, 6)"),
    ("04", "slope", lambda *given: solved("04").slope(*given) / 2, "it is halved"),
    ("04", "slope", lambda x, w, dy, d: undefined, "a name is misspelt"),  # noqa: F821
]


@pytest.mark.parametrize(("number", "name", "answer", "said"), WRONG)
def test_explains_a_wrong_answer(number, name, answer, said):
    verdict = grading.lesson(FILES[number]).exercises[name].check(answer)
    assert not verdict
    assert verdict.text.startswith("Not yet: ")
    assert said in verdict.text
    assert "Traceback" not in verdict.text


NUMBERS = np.arange(12.0).reshape(3, 4) ** 2 + 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (NUMBERS.T, "it is transposed"),
        (NUMBERS[::-1], "flipped along axis 0"),
        (NUMBERS / 2, "every number is halved"),
        (NUMBERS * 3, "every number is 3 times the right one"),
        (NUMBERS + 5, "every number is 5 too large"),
        (NUMBERS.ravel(), "in another shape"),
        (NUMBERS.T.reshape(3, 4), "another layout"),
        (np.roll(NUMBERS, 1, 1), "shifted by one along axis 1"),
        (0 * NUMBERS, "every number is 0"),
        (np.where(NUMBERS > 9, np.nan, NUMBERS), "9 of 12 numbers are NaN"),
        (np.where(NUMBERS > 9, -NUMBERS, NUMBERS), "but for its sign"),
        (NUMBERS.ravel()[[1, 0, *range(2, 12)]].reshape(3, 4), "in other places"),
        (NUMBERS + np.eye(3, 4), "number [0, 0] is 2 instead of 1; 3 of 12 numbers differ"),
        (NUMBERS.astype(str), "number [0, 0] is 1.0 instead of 1"),
        ("twelve", "the shape is (), not (3, 4)"),
        (object(), "returns a object"),
    ],
)
def test_names_usual_mistakes(wrong, said):
    exercise = Exercise("numbers", cases=[()], expected=lambda: NUMBERS)
    assert said in exercise.check(lambda: wrong).text
    assert exercise.check(lambda: NUMBERS * (1 + 1e-6))


def test_wants_the_function_itself():
    lesson = Lesson(Exercise("numbers", cases=[()], expected=lambda: NUMBERS))
    for answer in (NUMBERS, lambda: NUMBERS):
        assert "check takes one of the functions numbers" in lesson.check(answer).text
    assert "write check(numbers)" in lesson.exercises["numbers"].check(NUMBERS).text


def test_grades_notebooks_and_trusts_nothing_in_them(tmp_path, capsys):
    place = tmp_path / "anna" / "02_convolution.ipynb"
    place.parent.mkdir()
    sources = [
        (COURSE / "solutions" / FILES["02"].name).read_text(),
        "%matplotlib inline\ndef grey(colour):\n    raise SystemExit",
        "print('[]')\ndel blur_each",
        "from exercises.lesson_02 import check\ncheck = print\nnonsense(",
    ]
    cells = [{"cell_type": "code", "metadata": {}, "source": [source]} for source in sources]
    place.write_text(json.dumps({"cells": cells}))
    assert main(["examples", "--grade", str(tmp_path), "--json"]) == 1
    edges, grey, blur = json.loads(capsys.readouterr().out)
    assert (edges["exercise"], edges["right"], edges["text"]) == ("edges", True, "Right.")
    assert "raised SystemExit in `raise SystemExit`" in grey["text"]
    assert "there is no blur_each\n  code cell 4 raised SyntaxError" in blur["text"]
    assert main(["examples", "--grade", str(COURSE / "exercises")]) == 2
    assert "no notebook of the course" in capsys.readouterr().err


def test_lists_and_solves_exercises(capsys):
    assert main(["examples", "--exercises"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3 * len(FILES)
    assert main(["examples", "--answer", "12"]) == 0
    out = capsys.readouterr().out
    assert out.count("\ndef ") == 3
    assert '"""' not in out
    assert main(["examples", "--answer", "nothing"]) == 2

"""Exercises: a learner's function is called, its C calls are traced, and its result is explained.

>>> import numpy as np
>>> lesson = Lesson(Exercise("twice", cases=[(np.ones(3),)], expected=lambda x: 2 * x))
>>> def twice(x):
...     return x / 2
>>> lesson.check(twice)
Not yet: every number is 0.25 times the right one
  twice(float64 (3,)): number [0] is 0.5 instead of 2; 3 of 3 numbers differ
"""

from __future__ import annotations

import copy
import fnmatch
import linecache
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations, islice, permutations, product
from typing import Any

import numpy as np

from .records import CallRecord
from .tracing import trace

Values = Callable[..., Any]
Mistake = tuple[str, np.ndarray]
"""A mistake in words, and what it gives."""


@dataclass(frozen=True)
class Verdict:
    """The answer of a check; true if the exercise is solved, and its text in a notebook.

    Attributes
    ----------
    right : bool
    text : str
        "Right.", or "Not yet: " and an explanation.
    """

    right: bool
    text: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Exercise:
    """A function that a learner is to write, and how to tell right from wrong.

    Attributes
    ----------
    name : str
        The function's name.
    minutes : int
        How long it takes a learner.
    cases : sequence of tuple
        The arguments of each call; arrays are copied before.
    expected : callable
        The right result, computed from the arguments without cuDNN.
    judge : callable, optional
        In the place of `cases` and `expected`: called with the learner's function, it returns "" or
        what is wrong.
    calls : sequence of str
        C functions that must be called in each case, as patterns: "cudnnConvolutionForward". A name
        that stands there twice must be called twice.
    closes : bool
        True if each descriptor that is created must be destroyed.
    mistakes : dict of str to callable
        Usual mistakes: what to say of one, and the result that it gives for the arguments.
    tolerance : float
        Allowed relative difference.
    """

    name: str
    minutes: int = 5
    cases: Sequence[tuple[Any, ...]] = ()
    expected: Values | None = None
    judge: Callable[[Values], str] | None = None
    calls: Sequence[str] = ()
    closes: bool = False
    mistakes: Mapping[str, Values] = field(default_factory=dict)
    tolerance: float = 1e-4

    def check(self, answer: Any) -> Verdict:
        """Call a learner's function, and explain what it raised, returned and left out.

        Parameters
        ----------
        answer : callable

        Returns
        -------
        Verdict
            Never raises for what the function does, except KeyboardInterrupt.
        """
        if not callable(answer):
            said = f"check takes the function {self.name} itself, not a {type(answer).__name__}"
            return Verdict(False, f"Not yet: {said}; write check({self.name})")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            problem = next(filter(None, self._problems(answer)), "")
        return Verdict(not problem, f"Not yet: {problem}" if problem else "Right.")

    def _problems(self, answer: Values) -> Iterator[str]:
        """The mistake in each case; "" for a case that is right."""
        if self.judge is not None:
            yield self._observed(answer, partial(self.judge, answer), self.name)
        for case in self.cases:
            call = f"{self.name}({', '.join(map(_shown, case))})"
            yield self._observed(answer, partial(self._compared, answer, case, call), call)

    def _observed(self, answer: Values, run: Callable[[], str], call: str) -> str:
        """Run a case with a trace, and look at the C calls once its result is right."""
        with trace() as traced:
            try:
                problem = run()
            except (Exception, SystemExit) as error:
                return f"{call} raised {raised(error, answer)}"
        left_out = self._calls_left_out(traced.calls)
        if problem:
            return f"{problem}\n  and {left_out}" if left_out and not self.judge else problem
        if left_out:
            return f"the result is right, but {left_out}: let cuDNN compute it"
        return _left_open(traced.calls) if self.closes else ""

    def _compared(self, answer: Values, case: tuple[Any, ...], call: str) -> str:
        """Call the function, and compare its result, or each of several, with the right one."""
        if self.expected is None:
            raise ValueError(f"the exercise {self.name} has neither `expected` nor `judge`")
        found = answer(*copy.deepcopy(case))
        expected = self.expected(*copy.deepcopy(case))
        if found is None:
            return f"{call} returns nothing: the line with `return` is missing"
        if not isinstance(expected, tuple) or all(np.ndim(each) == 0 for each in expected):
            return self._compare(found, np.asarray(expected), case, call)
        if not isinstance(found, (tuple, list)) or len(found) != len(expected):
            return f"{call} returns {_shown(found)}; {len(expected)} results are expected"
        for number, (part, wanted) in enumerate(zip(found, expected, strict=True), 1):
            named = f"{call}, result {number}"
            if problem := self._compare(part, np.asarray(wanted), case, named):
                return problem
        return ""

    def _compare(self, found: Any, wanted: np.ndarray, case: tuple[Any, ...], call: str) -> str:
        """The mistake in a result, and the first difference; "" if it is right."""
        values = as_array(found)
        if values is None:
            return f"{call} returns a {type(found).__name__}, not {_shown(wanted)}"
        if not wanted.ndim and values.size == 1:
            values = values.reshape(())
        own, axes = self._own_mistakes(case), self._wrong_axes(case)
        return explained(values, wanted, self.tolerance, own, axes, call=call)

    def _own_mistakes(self, case: tuple[Any, ...]) -> Iterator[Mistake]:
        for said, formula in self.mistakes.items():
            for wrong in _tried(formula, case):
                yield said, wrong

    def _wrong_axes(self, case: tuple[Any, ...]) -> Iterator[Mistake]:
        """The right formula along other axes of the first argument."""
        rank = case[0].ndim if case and isinstance(case[0], np.ndarray) else 0
        for axes in combinations(range(rank), 2):
            said = f"it works along the wrong axis: {axes[0]} and {axes[1]} are exchanged"
            for wrong in _tried(self.expected, (case[0].swapaxes(*axes), *case[1:])):
                yield said, wrong
                if wrong.ndim == rank:
                    yield said, wrong.swapaxes(*axes)

    def _calls_left_out(self, calls: Iterable[CallRecord]) -> str:
        made = [call.function for call in calls if not call.failed]
        for pattern, wanted in Counter(self.calls).items():
            count = len(fnmatch.filter(made, pattern))
            if not count:
                return f"no call of {pattern} was made"
            if count < wanted:
                return f"{pattern} was called {count} of {wanted} times"
        return ""


class Lesson:
    """The exercises of a lesson, of rising difficulty.

    Parameters
    ----------
    *exercises : Exercise
    """

    def __init__(self, *exercises: Exercise) -> None:
        self.exercises = {each.name: each for each in exercises}

    def check(self, answer: Any) -> Verdict:
        """Say whether a learner's function solves the exercise of its name, and why not.

        Parameters
        ----------
        answer : callable
            The function; its name says which exercise it answers.

        Returns
        -------
        Verdict
        """
        name = getattr(answer, "__name__", "")
        if name in self.exercises:
            return self.exercises[name].check(answer)
        names = ", ".join(self.exercises)
        said = f"a function called {name}" if callable(answer) else f"a {type(answer).__name__}"
        return Verdict(
            False, f"Not yet: this is {said}; check takes one of the functions {names}, made by def"
        )


def raised(error: BaseException, answer: Values) -> str:
    """An exception in words: its kind, the line of the learner's function, and what it says.

    Parameters
    ----------
    error : BaseException
    answer : callable
        The learner's function.
    """
    text, _, _ = str(error).partition("\n  called with")
    lines = re.sub(r"0x[0-9a-f]+", "0x…", text).strip().splitlines() or ["without a text"]
    file = getattr(getattr(answer, "__code__", None), "co_filename", None)
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
    where = ""
    if frames:
        last = frames[-1]
        source = linecache.getline(last.filename, last.lineno or 0).strip()
        where = f" in `{source}`" if source else f" in line {last.lineno}"
    hint = _HINTS.get(type(error).__name__, "")
    if isinstance(error, TypeError) and "argument" in lines[0] and not frames:
        hint = "the parameters must be those of the first attempt"
    said = [line.strip() for line in lines[:4]] + ([f"hint: {hint}"] if hint else [])
    return "\n  ".join([f"{type(error).__name__}{where}", *said])


_HINTS = {
    "NameError": "a name is misspelt, or a cell above was not run",
    "UnboundLocalError": "a name is read before the function gives it a value",
    "RecursionError": "the function calls itself without an end",
    "SystemExit": "the function must return, and not end the program",
}


def _tried(formula: Any, case: tuple[Any, ...]) -> Iterator[np.ndarray]:
    """The result of a formula; nothing if it does not fit the case."""
    try:
        wrong = as_array(formula(*copy.deepcopy(case)))
    except Exception:
        return
    if wrong is not None:
        yield wrong


def _shown(value: Any) -> str:
    """A value as it stands in a message: arrays by data type and shape."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}" if value.ndim else str(value)
    return f"a {type(value).__name__}" if isinstance(value, (dict, list)) else repr(value)


def _left_open(calls: Iterable[CallRecord]) -> str:
    """The kind of object that was created and not destroyed, in words; else ""."""
    count: Counter[str] = Counter()
    for call in calls:
        if (named := re.fullmatch(r"cudnn(Backend)?(Create|Destroy)(\w*)", call.function)) and (
            not call.failed
        ):
            count[(named[1] or "") + named[3]] += 1 if named[2] == "Create" else -1
    for kind, open_ in count.items():
        if open_ > 0:
            plural = f" {open_} times" if open_ > 1 else ""
            return (
                f"the result is right, but there is a leak: cudnnCreate{kind} was called{plural} "
                f"without cudnnDestroy{kind}"
            )
    return ""


# --- results --------------------------------------------------------------------------------------


def as_array(value: Any) -> np.ndarray | None:
    """A learner's result as an array on the host; None if it is no array of numbers or texts."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    if array.dtype.kind == "V":  # bfloat16 and the other types of ml_dtypes
        array = array.astype(np.float32)
    return array if array.dtype.kind in "fciubU" else None


_FACTORS = {-1.0: "has the wrong sign", 0.5: "is halved", 2.0: "is doubled"}


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """A boolean array of the common shape: true for numbers that agree.

    - `found`, `expected`: of one shape.
    - `tolerance`: allowed difference, relative to each number and to the largest finite one.
    """
    if found.dtype.kind not in "fciub" or expected.dtype.kind not in "fciub":
        return np.asarray(found == expected)
    sizes = np.abs(expected[np.isfinite(expected)])
    largest = float(sizes.max()) if sizes.size else 0.0
    with np.errstate(all="ignore"):
        scale = tolerance * (largest or 1)
        return np.asarray(np.isclose(found, expected, tolerance, scale, equal_nan=True))


def equal(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Whether two arrays have one shape and agree in all numbers."""
    return found.shape == expected.shape and bool(close(found, expected, tolerance).all())


def first_difference(found: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    """A sentence on the first number that differs, and on how many do; on shapes if they differ."""
    if found.shape != expected.shape:
        return f"the shape is {found.shape}, not {expected.shape}"
    wrong = ~close(found, expected, tolerance)
    index = tuple(map(int, np.argwhere(wrong)[0]))
    values = f"{_number(found[index])} instead of {_number(expected[index])}"
    if not index:
        return f"it is {values}"
    place = ", ".join(map(str, index))
    return f"number [{place}] is {values}; {wrong.sum()} of {wrong.size} numbers differ"


def _number(value: np.generic) -> str:
    return f"{value:.4g}" if value.dtype.kind in "fc" else str(value)


def explained(
    found: np.ndarray,
    expected: np.ndarray,
    tolerance: float = 1e-4,
    mistakes: Iterable[Mistake] = (),
    others: Iterable[Mistake] = (),
    *,
    call: str = "",
) -> str:
    """The mistake that gives `found`, and the first number that differs; "" if they agree.

    Parameters
    ----------
    found, expected : ndarray
    tolerance : float, optional
        Allowed difference, relative to each number and to the largest finite one.
    mistakes, others : iterable of (str, ndarray)
        Mistakes in words with what they give, to look at before and after the usual ones.
    call : str, optional
        The call with its arguments, which stands before the first difference.
    """
    if equal(found, expected, tolerance):
        return ""
    known = chain(mistakes, _usual_mistakes(found, expected), others)
    said = (said for said, wrong in known if equal(found, np.asarray(wrong), tolerance))
    first = first_difference(found, expected, tolerance)
    return "\n  ".join([*islice(said, 1), f"{call}: {first}" if call else first])


def _usual_mistakes(found: np.ndarray, expected: np.ndarray) -> Iterator[Mistake]:
    """Usual mistakes in words, each with the array that it gives."""
    kinds = {found.dtype.kind, expected.dtype.kind}
    if not kinds <= set("fiub") or not found.size or not np.isfinite(expected).any():
        return
    rank, one_shape = expected.ndim, found.shape == expected.shape
    if one_shape:
        nan = np.isnan(found) & ~np.isnan(expected)
        if nan.any():
            yield f"{nan.sum()} of {nan.size} numbers are NaN", found
        yield "every number is 0, as if nothing had been written", np.zeros_like(expected)
        yield from _scaled(found, expected) if "b" not in kinds else ()
    if found.size == expected.size and not one_shape:
        yield "the numbers are right, but in another shape", expected.reshape(found.shape)
    for order in permutations(range(rank) if rank < 5 else ()):
        if order != tuple(range(rank)):
            said = f"it is transposed: its axes are the right ones in the order {order}"
            yield said, expected.transpose(order)
    if not one_shape:
        return
    for count in range(1, min(rank, 4) + 1):
        for axes in combinations(range(rank), count):
            named = f"axis {axes[0]}" if count == 1 else f"axes {axes}"
            yield f"it is flipped along {named}", np.flip(expected, axes)
    for axis, step in product(range(rank), (1, -1)):
        # What moves in from the border is unknown: take it from what was found.
        moved = np.roll(expected, step, axis)
        border = (*(slice(None),) * axis, 0 if step > 0 else -1)
        if expected.shape[axis] > 2:
            moved[border] = found[border]
            yield f"it is shifted by one along axis {axis}", moved
    for order in permutations(range(rank) if rank < 5 else ()):
        moved = expected.transpose(order).reshape(expected.shape)
        yield f"the numbers lie in another layout: the axes in the order {order}", moved
    if "b" not in kinds:
        yield "every number is right but for its sign", np.copysign(expected, found)
    ordered = np.sort(expected, axis=None)[np.argsort(np.argsort(found, axis=None))]
    yield "the numbers are right, but in other places", ordered.reshape(expected.shape)


def _scaled(found: np.ndarray, expected: np.ndarray) -> Iterator[Mistake]:
    """Every number times the same factor, or more by the same amount."""
    largest = np.unravel_index(np.nanargmax(np.abs(expected)), expected.shape)
    which = "every number" if expected.ndim else "it"
    for factor, said in _FACTORS.items():
        yield f"{which} {said}", expected * factor
    with np.errstate(all="ignore"):
        factor = float(found[largest] / expected[largest]) if expected[largest] else 0.0
        more = float(found[largest]) - float(expected[largest])
    if expected.ndim and np.isfinite(factor) and factor:
        yield f"every number is {factor:.4g} times the right one", expected * factor
    if expected.ndim and np.isfinite(more) and more:
        side = "large" if more > 0 else "small"
        yield f"every number is {abs(more):.4g} too {side}", expected + more

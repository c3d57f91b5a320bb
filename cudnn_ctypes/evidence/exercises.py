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
from itertools import combinations
from typing import Any

import numpy as np

from .differences import equal, first_difference, usual_mistake
from .records import CallRecord
from .tracing import trace

Values = Callable[..., Any]


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
        if equal(values, wanted, self.tolerance):
            return ""
        said = self._mistake(values, wanted, case)
        first = f"{call}: {first_difference(values, wanted, self.tolerance)}"
        return f"{said}\n  {first}" if said else first

    def _mistake(self, found: np.ndarray, wanted: np.ndarray, case: tuple[Any, ...]) -> str:
        """The mistake that gives `found`: of this exercise, a usual one, or the wrong axis."""
        for said, formula in self.mistakes.items():
            if self._gives(formula, case, found):
                return said
        if said := usual_mistake(found, wanted, self.tolerance):
            return said
        rank = case[0].ndim if case and isinstance(case[0], np.ndarray) else 0
        for axes in combinations(range(rank), 2):
            turned = (case[0].swapaxes(*axes), *case[1:])
            back = found.swapaxes(*axes) if found.ndim == rank else found
            if any(self._gives(self.expected, turned, each) for each in (found, back)):
                return f"it works along the wrong axis: {axes[0]} and {axes[1]} are exchanged"
        return ""

    def _gives(self, formula: Any, case: tuple[Any, ...], found: np.ndarray) -> bool:
        """Whether a formula, which need not fit the case, gives `found`."""
        try:
            wrong = as_array(formula(*copy.deepcopy(case)))
        except Exception:
            return False
        return wrong is not None and equal(found, wrong, self.tolerance)

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

"""A C function as a Python object: bound on its first call, its status checked in one place.

The first call looks the symbol up and compiles one Python function: the guards that this C function
needs, the call itself and the look at its status. Later calls run that function and nothing else.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, cast

from ..errors import CudnnError
from . import library, log
from .call_source import compiled, without_argtypes
from .ctypes_support import CudnnEnum, Documentation
from .parameter import Parameter, c_type, declaration
from .process import new_reentrant_lock
from .vocabulary import WORDS

if TYPE_CHECKING:
    from types import CodeType

    from typing_extensions import ParamSpec, Self, TypeVar

    from .guards import Fragment
else:
    from typing import ParamSpec, TypeVar

if TYPE_CHECKING:
    _P = ParamSpec("_P", default=...)
    _R_co = TypeVar("_R_co", covariant=True, default=Any)

    class _Partial(Generic[_P, _R_co]):
        """The part of ``functools.partial`` that is used here."""

        def __new__(cls, python_function: Callable[..., Any]) -> Self: ...
        def __setstate__(self, state: tuple[Any, ...]) -> None: ...

else:
    _P, _R_co = ParamSpec("_P"), TypeVar("_R_co")
    _Partial = functools.partial


class Function(_Partial[_P, _R_co]):
    """A C function. Calling it raises `CudnnError` on every status but success.

    It returns the status; a function that returns no status behaves as in C.

    Attributes
    ----------
    header : str
        The C header that declares it.
    since : str
        The first cuDNN version that has it.
    deprecated : bool
        True if the header marks the function as deprecated.
    replaced_by : str
        The C name of a deprecated function's successor, "" if there is none.
    """

    # A partial without arguments calls its function at C's speed. Unlike a plain function it can
    # have a repr, and facts that are computed on first access.

    __name__: str
    __qualname__: str
    header: str
    since: str
    deprecated: bool
    replaced_by: str
    _binding: Binding
    _callee: Callable[..., Any]

    def __new__(cls, bound: Binding) -> Self:
        self = super().__new__(cls, bound.bind)
        self.__name__ = self.__qualname__ = bound.name
        self.__module__ = "cudnn_ctypes.raw"
        self._binding = bound
        self.header = bound.header
        self.since = bound.since
        self.deprecated = bound.deprecated
        self.replaced_by = bound.replaced_by
        self.call(self._first_call)
        return self

    if TYPE_CHECKING:

        def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...

    def call(self, python_function: Callable[..., Any]) -> None:
        """Send calls to `python_function` from now on, through the observer if there is one."""
        self._callee = python_function
        target = python_function if _observer is None else functools.partial(_observer, self)
        self.__setstate__((target, (), {}, self.__dict__))

    def unobserved(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function without passing through the observer."""
        return self._callee(*args, **kwargs)

    def bind(self) -> None:
        """Look the symbol up and compile the guards now rather than on the first call.

        Raises
        ------
        LibraryNotFoundError, SymbolNotFoundError
        """
        if self._callee == self._first_call:
            self._binding.bind()

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        self._binding.bind()
        return self._callee(*args, **kwargs)

    def __get__(self, instance: object, owner: object = None) -> Self:
        """The function itself, also as a class attribute; ``help`` shows objects with this method
        as functions."""
        return self

    def __repr__(self) -> str:
        return self.prototype

    def __reduce__(self) -> str:
        return self.__name__

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, in C's order."""
        return self._binding.parameters

    @functools.cached_property
    def prototype(self) -> str:
        """The declaration as C writes it."""
        return self._binding.prototype

    @functools.cached_property
    def unchecked(self) -> Function[_P, _R_co]:
        """The same function, which returns the status as C does instead of raising."""
        return cast("Function[_P, _R_co]", self._binding.unchecked)

    @property
    def __signature__(self) -> inspect.Signature:
        return self._binding.signature


Function.__doc__ = Documentation(Function.__doc__)  # type: ignore[assignment]


def function(header: str, **facts: Any) -> Callable[[Callable[_P, _R_co]], Function[_P, _R_co]]:
    """Make a C function of an annotated stub, whose name and parameter names are C's.

    The facts are those of `Binding`.
    """

    def decorate(stub: Callable[..., Any]) -> Any:
        return Binding(cast(FunctionType, stub), header, **facts).checked

    return decorate


class Binding:
    """The declaration and C symbol that a checked and an unchecked Python function share.

    `carried_out`, `followed` and `taken_over` name the module of the reference device that does
    this with the function's calls; `noted` names the function of `descriptors`, without ``note_``,
    that notes what they set. A function with a successor is deprecated.
    """

    def __init__(
        self,
        stub: FunctionType,
        header: str,
        *,
        since: str,
        deprecated: bool = False,
        replaced_by: str = "",
        carried_out: str = "",
        followed: str = "",
        taken_over: str = "",
        noted: str = "",
    ) -> None:
        self.stub = stub
        self.name: str = stub.__name__
        self.header = header
        self.since = since
        self.deprecated: bool = deprecated or bool(replaced_by)
        self.replaced_by = replaced_by
        self.carried_out = carried_out
        self.followed = followed
        self.taken_over = taken_over
        self.noted = noted
        self._interceptor: Callable[..., Any] | None = None
        self._wrapper: Callable[[Any], Any] | None = None
        self._scopes: tuple[dict[str, Any], ...] = ()
        self.checked: Function = Function(self)
        _bindings[self.name] = self

    # --- the declaration -----------------------------------------------------------------------

    @functools.cached_property
    def _annotations(self) -> dict[str, Any]:
        names = self.stub.__globals__
        return {
            name: eval(annotation, names, WORDS)
            for name, annotation in self.stub.__annotations__.items()
        }

    @property
    def result_type(self) -> Any:
        """The type of the return value: an enum, a ctypes type, or None."""
        return self._annotations["return"]

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(name, annotation)
            for name, annotation in self._annotations.items()
            if name != "return"
        )

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """Its parameters with their ctypes types."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(p.name, kind, annotation=p.ctype) for p in self.parameters]
        return inspect.Signature(parameters, return_annotation=self.result_type)

    @functools.cached_property
    def prototype(self) -> str:
        parameters = ", ".join(p.c_declaration for p in self.parameters) or "void"
        return declaration(c_type(self.result_type), f"{self.name}({parameters})")

    @property
    def returns_status(self) -> bool:
        return c_type(self.result_type) == "cudnnStatus_t"

    @functools.cached_property
    def unchecked(self) -> Function:
        with _lock:
            unchecked: Function = Function(self)
            if self._scopes:
                unchecked.call(self._scopes[1][self.name])
        return unchecked

    # --- binding -------------------------------------------------------------------------------

    @functools.cached_property
    def _compiled(self) -> tuple[CodeType, dict[str, Any]]:
        """Kept when the function is bound anew, with another C function or interceptor."""
        return compiled(self)

    @functools.cached_property
    def argtypes(self) -> list[Any]:
        from .converters import converter

        return [converter(p.name, p.type) for p in self.parameters]

    @functools.cached_property
    def reals(self) -> dict[int, Any]:
        """Parameters that are floating-point numbers, which have registers of their own."""
        types = {place: p.type for place, p in enumerate(self.parameters)}
        real = ctypes.c_double, ctypes.c_float
        return {at: t.base for at, t in types.items() if t.kind == "value" and t.base in real}

    @functools.cached_property
    def guard(self) -> Fragment:
        """The source lines of the checks around the call."""
        from . import guards

        return guards.fragment(self)

    @functools.cached_property
    def native(self) -> Any:
        """The C function, typed. Raises `SymbolNotFoundError` if the library lacks it."""
        symbol = library.load().symbol(self.name, since=self.since, header=self.header)
        symbol.argtypes = self.guard.argtypes or self.argtypes
        result = self.result_type
        is_enum = isinstance(result, type) and issubclass(result, CudnnEnum)
        symbol.restype = ctypes.c_int if is_enum else result
        if result is ctypes.c_char_p:
            symbol.errcheck = lambda text, *_: text.decode("utf-8", "replace")
        return self.wrapped(symbol)

    def wrapped(self, symbol: Any) -> Any:
        """A C symbol of this name, inside the wrapper that `wrap` set, if any."""
        return symbol if self._wrapper is None else self._wrapper(symbol)

    def wrap(self, wrapper: Callable[[Any], Any]) -> None:
        """From now on call ``wrapper(symbol)`` in place of the C function."""
        with _lock:
            self._wrapper = wrapper
            if "native" in vars(self):
                del self.native
                self._connect()

    def bind(self) -> None:
        """Compile the Python functions, with the C function or its interceptor in them."""
        with _lock:
            if not self._scopes:
                if self._interceptor is None:
                    self.native  # noqa: B018 - the library may lack it
                code, scope = self._compiled
                raising = {"_failed": self.settle, "_refused": self._raise_refusal}
                returning = {"_failed": self._settled, "_refused": self._return_refusal}
                if not self.returns_status:
                    raising = returning
                self._scopes = {**scope, **raising}, {**scope, **returning}
                self._connect()
                for each in self._scopes:
                    exec(code, each)
            self.checked.call(self._scopes[0][self.name])
            if "unchecked" in vars(self):
                self.unchecked.call(self._scopes[1][self.name])

    def rebind(self) -> None:
        """Look up the C function or its interceptor again at the next call."""
        with _lock:
            self._scopes = ()
            self.checked.call(self.checked._first_call)
            if "unchecked" in vars(self):
                self.unchecked.call(self.unchecked._first_call)

    def intercept(self, interceptor: Callable[..., Any] | None) -> None:
        with _lock:
            (watched.discard if interceptor is None else watched.add)(self.name)
            self._interceptor = interceptor
            if interceptor is None and "native" not in vars(self):
                self.rebind()  # the library is loaded by the next call
            self._connect()

    def _connect(self) -> None:
        """Put the C function or its interceptor into the compiled functions."""
        for scope in self._scopes:
            scope["_direct"] = None
            scope["_native"] = self._interceptor or self.native
            scope["_direct"] = without_argtypes(scope["_native"])

    # --- failing -------------------------------------------------------------------------------

    def explain(self, error: Exception, args: tuple[Any, ...]) -> None:
        """Raise the converter's error for a refused argument, with the argument's name."""
        from .refused_arguments import explain

        explain(self, error, args)

    def error(self, code: int, args: tuple[Any, ...]) -> CudnnError:
        """The exception for a call with `args` that returned the status `code`."""
        from . import status

        return status.error(self.name, code, zip(self.parameters, args, strict=True))

    def settle(self, code: int, args: tuple[Any, ...]) -> Any:
        """Raise the error of a call that returned `code`, or make it again in a context of CUDA.

        Returns success, of the second call.
        """
        settled = self._settled(code, args)
        if settled:
            raise self.error(settled, args)
        return settled

    def _settled(self, code: int, args: tuple[Any, ...]) -> Any:
        """The status of a call that returned `code`, or of a second one; see `settle`."""
        from . import gpus

        if gpus.context_was_missing():
            log.forget()
            code = (self._interceptor or self.native)(*args)
        return self.result_type(code)

    def _raise_refusal(self, code: int, args: tuple[Any, ...], *reasons: str) -> None:
        """Raise the error for a call that a guard refuses with the status `code`, before C."""
        log.put(*reasons, source=log.GUARD)
        raise self.error(code, args)

    def _return_refusal(self, code: int, args: tuple[Any, ...], *reasons: str) -> Any:
        log.put(*reasons, source=log.GUARD)
        return self.result_type(code) if self.returns_status else None


watched: set[str] = set()
"""C names of the functions whose calls are intercepted or observed; `_EVERY` for all functions."""

_EVERY = "*"

Observer = Callable[..., Any]

_observer: Observer | None = None

_bindings: dict[str, Binding] = {}
_lock = new_reentrant_lock()


def binding(name: str) -> Binding:
    """The `Binding` of the C function `name`."""
    return _bindings[name]


def intercept(name: str, interceptor: Callable[..., Any] | None) -> None:
    """Send calls of the C function `name` to `interceptor`; None sends them to cuDNN again.

    It receives the caller's arguments after the guards have passed them, and returns the status.
    The reference device carries out calls this way.
    """
    _bindings[name].intercept(interceptor)


def observe(observer: Observer | None) -> None:
    """Send every call of every C function through `observer`; None removes the observer.

    It receives the `Function` and the caller's arguments, before any guard. It calls
    ``function.unobserved(...)`` and returns the result. Layers 2 and 3 make all their calls through
    these functions while there is an observer.
    """
    global _observer
    with _lock:
        _observer = observer
        (watched.discard if observer is None else watched.add)(_EVERY)
        for bound in _bindings.values():
            for each in (bound.checked, vars(bound).get("unchecked")):
                if each is not None:
                    each.call(each._callee)

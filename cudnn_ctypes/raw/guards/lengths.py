"""NULL, arrays shorter than the call states or cuDNN assumes, and sizes whose products overflow.

NULL is refused where cuDNN would follow the pointer, with the status of its own refusals.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import live, records
from ..call_source import is_handle
from ..ctypes_support import is_null, room, storage_type
from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding
    from ..parameter import Parameter
if TYPE_CHECKING:
    from ..function import Binding
    from ..parameter import Parameter


_NULL_POINTER = 2002  # CUDNN_STATUS_BAD_PARAM_NULL_POINTER


def nulls(binding: Binding) -> Fragment | None:
    never_null = _never_null(binding)
    if not never_null:
        return None
    return Fragment(
        before=_lines([p for p in never_null if not _has_length(p)]),
        scope={
            "_null_names": _null_names(binding.parameters, never_null),
            **{f"_pointer_{p.name}": _pointer(p) for p in never_null},
            "_is_zero": _is_zero,
        },
    )


def array_lines(binding: Binding) -> list[str]:
    """Lines that refuse NULL for arrays whose length is another argument.

    They run in calls whose arrays are not known to be long enough.
    """
    return _lines([p for p in _never_null(binding) if _has_length(p)])


def _has_length(parameter: Parameter) -> bool:
    return parameter.type.kind == "array" and isinstance(parameter.length, str)


def _lines(never_null: Sequence[Parameter]) -> list[str]:
    if not never_null:
        return []
    return [
        f"if {' or '.join(map(_condition, never_null))}:",
        "    _nulls = _null_names({args})",
        f"    if _nulls: return _refused({_NULL_POINTER}, {{args}}, *_nulls)",
    ]


def _never_null(binding: Binding) -> list[Parameter]:
    """The parameters that may not be NULL, some if another argument is given."""
    return [p for p in binding.parameters if p.type.null is False or p.type.needed_by]


def _condition(parameter: Parameter) -> str:
    name, needed_by = parameter.name, parameter.type.needed_by
    if parameter.type.kind == "value":  # arrays and tensors have no truth value
        null = f"not _of_{name}" if is_handle(parameter) else f"not {name}"
    else:
        null = f"({name} is None or {name}.__class__ is _pointer_{name} and not {name})"
    if isinstance(parameter.length, str):  # NULL is accepted for 0 elements
        null = f"{null} and {parameter.length}"
    return f"{null} and not _is_zero({needed_by})" if needed_by else null


def _is_zero(argument: Any) -> bool:
    """Whether a number is 0, or a pointer NULL."""
    number = getattr(argument, "value", argument)
    return is_null(argument) or (isinstance(number, int) and number == 0)


def _pointer(parameter: Parameter) -> Any:
    """The ctypes pointer type of a parameter, whose objects may be NULL."""
    base = parameter.type.base
    return ctypes.POINTER(storage_type(base)) if base else ctypes.c_void_p


def _null_names(
    parameters: Sequence[Parameter], never_null: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], list[str]]:
    names = [p.name for p in parameters]
    positions = {
        names.index(p.name): names.index(p.type.needed_by) if p.type.needed_by else None
        for p in never_null
    }

    def null_names(arguments: tuple[Any, ...]) -> list[str]:
        # Empty for 0, False and other objects that are no pointers: ctypes refuses them.
        return [
            parameters[i].name
            + (" was destroyed" if live.is_destroyed(arguments[i]) else " is NULL")
            for i, other in positions.items()
            if is_null(arguments[i]) and (other is None or not _is_zero(arguments[other]))
        ]

    return null_names


def lengths(binding: Binding) -> Fragment | None:
    arrays = [p for p in binding.parameters if p.type.kind == "array" and p.length is not None]
    if not arrays:
        return None
    fit = " and ".join(f"{p.type.least} <= {p.length} <= len({p.name})" for p in arrays)
    fit += "".join(f" and {p.length} <= {p.type.most}" for p in arrays if p.type.most is not None)
    status = next((int(p.type.too_long) for p in arrays if p.type.too_long is not None), None)
    return Fragment(
        before=[
            "try:",
            f"    _fit = {fit}",
            "except Exception:",  # numbers of other libraries raise errors of any class
            "    _fit = False",
            "if not _fit:",
            *(f"    {line}" for line in array_lines(binding)),
            "    _too_many = _check_lengths({args})",
            f"    if _too_many: return _refused({status}, {{args}}, _too_many)",
        ],
        scope={"_check_lengths": _check_lengths(binding, arrays)},
    )


def _check_lengths(
    binding: Binding, arrays: Sequence[Parameter]
) -> Callable[[tuple[Any, ...]], str]:
    """A check for arrays of any kind; it raises for short ones, and returns why one is too long."""
    names = [p.name for p in binding.parameters]

    def check(arguments: tuple[Any, ...]) -> str:
        by_name = dict(zip(names, arguments, strict=True))
        numbers = {
            name: argument.value if isinstance(argument, ctypes._SimpleCData) else argument
            for name, argument in by_name.items()
        }
        for p in arrays:
            least, most = p.type.least, p.type.most
            lengths = elements(by_name[p.name], p.type.base)
            try:
                wanted = eval(str(p.length), {}, numbers)
                wrong = lengths is not None and not 0 <= wanted <= lengths
                too_few = 0 <= wanted < least
                too_many = most is not None and wanted > most
            except Exception:
                continue  # the length is no number: its converter raises
            if too_few:
                raise ValueError(
                    f"{binding.name}() argument {p.length!r}: at least {least} expected, "
                    f"got {wanted}"
                )
            if wrong:
                raise ValueError(
                    f"{binding.name}() argument {p.name!r}: {p.length} = {wanted} elements "
                    f"expected, got {lengths}"
                )
            if too_many:
                return f"{p.length} = {wanted} is more than {most}"
        return ""

    return check


def elements(array: Any, base: Any) -> int | None:
    """Number of elements of an array; None if unknown."""
    if array is None or isinstance(array, type):
        return None
    if isinstance(getattr(array, "size", None), int):  # numpy.ndarray
        return int(array.size)
    if hasattr(array, "__len__"):
        return len(array)
    nbytes = room(array)
    return None if nbytes is None else nbytes // ctypes.sizeof(storage_type(base))


# --- fewer than 2 dims of a tensor ----------------------------------------------------------------
# ``cudnnGetTensorNdDescriptor`` multiplies the second entry of the caller's array by the vector
# length for vectorised types, even if fewer dims are asked for (cuDNN 9.28).


def read_back_dims(binding: Binding) -> Fragment | None:
    lent = [p for p in binding.parameters if p.type.lent]
    if not lent:
        return None
    names, count, most = ", ".join(p.name for p in lent), lent[0].length, lent[0].type.lent
    return Fragment(
        before=[
            f"_few = {count}.__class__ is _int and 0 <= {count} < {most}",
            f"if _few: _arrays, {names} = ({names}), {', '.join(['_Ints()'] * len(lent))}",
        ],
        success=[f"if _few and {count}: _copied(_arrays, ({names}))"],
        scope={"_int": int, "_Ints": ctypes.c_int * 8, "_copied": _copied(binding)},
    )


def _copied(binding: Binding) -> Callable[[tuple[Any, Any], tuple[Any, Any]], None]:
    positions = [i for i, p in enumerate(binding.parameters) if p.type.kind == "array"]

    def copy(arrays: tuple[Any, Any], read: tuple[Any, Any]) -> None:
        """Copy the first number of each array to the caller's arrays."""
        for position, array, numbers in zip(positions, arrays, read, strict=True):
            target = binding.argtypes[position].from_param(array)
            ctypes.cast(target, ctypes.POINTER(ctypes.c_int))[0] = numbers[0]

    return copy


# --- products that exceed 64 bits, sums that exceed cuDNN's 32 bits -------------------------------
# cuDNN 9.28 refuses tensors of these sizes, but accepts filters and reports 0 bytes for them. For a
# padding of 2147483647 it computes an output of one element.

_BAD_PARAM = 2000  # cudnnStatus_t
_MOST = (1 << 63) // 8  # elements: their bytes fit in 64 bits
_SMALL = 1 << 14
_MOST_DIMS = 8  # CUDNN_DIM_MAX
_FAR = 1 << 28  # an extent that does not fit on both sides of a tensor of 2^31 elements


def products(binding: Binding) -> Fragment | None:
    sizes = [p for p in binding.parameters if p.type.size]
    if not sizes:
        return None
    names, length = [p.name for p in sizes], sizes[0].length
    check = (_check_product if sizes[0].type.size == "factor" else _check_extents)(names)
    refuse = [
        f"_too_large = _check_sizes(({', '.join(names)},), {length})",
        f"if _too_large: return _refused({_BAD_PARAM}, {{args}}, _too_large)",
    ]
    if length is None:  # the product and sum of four numbers below _SMALL are small
        small = f"    _small = 0 <= ({' | '.join(names)}) < {_SMALL}"
        refuse = [
            *("try:", small, "except Exception:", "    _small = False", "if not _small:"),
            *(f"    {line}" for line in refuse),
        ]
    return Fragment(before=refuse, scope={"_check_sizes": check})


def _check_product(names: list[str]) -> Callable[[tuple[Any, ...], Any], str]:
    def check(arguments: tuple[Any, ...], length: Any) -> str:
        sizes = [size for argument in arguments for size in _ints(argument, length)]
        product = math.prod(sizes)
        if all(size > 0 for size in sizes) and product > _MOST:
            factors = " * ".join(map(str, sizes))
            return f"{' * '.join(names)} = {factors} = {product} elements, more than {_MOST}"
        return ""

    return check


def _check_extents(names: list[str]) -> Callable[[tuple[Any, ...], Any], str]:
    def check(arguments: tuple[Any, ...], length: Any) -> str:
        for name, argument in zip(names, arguments, strict=True):
            for extent in _ints(argument, length):
                if extent > _FAR:
                    return f"{name}: {extent} is more than {_FAR}, so sizes of outputs overflow"
        return ""

    return check


def _ints(argument: Any, length: Any) -> list[int]:
    """The number in an argument, or an array's first `length`; [] if its converter refuses it."""
    length = getattr(length, "value", length)  # c_int(...)
    argument = getattr(argument, "value", argument)
    if isinstance(argument, ctypes._Pointer) and not (argument and 0 < length <= _MOST_DIMS):
        return []  # cuDNN does not read them either
    try:
        if hasattr(argument, "tolist"):
            argument = argument.tolist()
        if hasattr(argument, "__index__"):
            return [operator.index(argument)]
        return [int(getattr(item, "value", item)) for item in argument[:length]]
    except Exception:  # numbers of other libraries raise errors of any class
        return []


# --- host labels of a CTC loss --------------------------------------------------------------------
# C has no parameter for their number. cuDNN reads one length for each sample of the batch, and all
# labels one after another.


def losses(binding: Binding) -> Fragment | None:
    batched = [p for p in binding.parameters if p.type.per_sample or p.type.sum_of]
    if not batched:
        return None
    names, base = [p.name for p in batched], batched[0].type.base
    described_by = batched[-1].type.per_sample

    def check(probs: Any, *arrays: Any) -> None:
        tensor = records.record(probs)
        if tensor is None or len(tensor.shape) < 2:
            return
        batch = tensor.shape[1]
        labels, label_lengths, _ = arrays
        for name, array in zip(names[1:], arrays[1:], strict=True):
            _require(name, array, batch, "one for each sample of the batch")
        if hasattr(label_lengths, "__getitem__"):
            lengths = [int(length) for length in label_lengths[:batch]]
            # cuDNN refuses negative lengths before it reads labels.
            if min(lengths, default=0) >= 0:
                _require(names[0], labels, sum(lengths), f"the sum of {names[1]}")

    def _require(name: str, array: Any, wanted: int, why: str) -> None:
        numbers = elements(array, base)
        if numbers is not None and numbers < wanted:
            raise ValueError(
                f"{binding.name}() argument {name!r}: {wanted} elements expected, {why}, "
                f"got {numbers}"
            )

    lines = [
        "try:",
        f"    _check_labels({described_by}, {', '.join(names)})",
        "except (AttributeError, TypeError):  # of another type: its converter says so",
        "    pass",
    ]
    return Fragment(before=lines, scope={"_check_labels": check})

"""Rules that the tensors of many operations follow; errors name the argument, before C."""

from __future__ import annotations

from .tensor import TensorDescriptor

__all__ = ["check_broadcast", "check_same"]


def check_same(
    source: str,
    source_desc: TensorDescriptor,
    target: str,
    target_desc: TensorDescriptor,
    *,
    types: bool = True,
) -> None:
    """Refuse a tensor whose shape, or type, is not that of another one.

    Raises
    ------
    ValueError
    """
    if target_desc.shape != source_desc.shape:
        raise ValueError(
            f"{target}: expected shape {source_desc.shape}, that of {source}, got "
            f"{target_desc.shape}"
        )
    if types and target_desc.data_type != source_desc.data_type:
        raise ValueError(
            f"{target}: expected the type of {source}, {source_desc.data_type.name}, got "
            f"{target_desc.data_type.name}"
        )


def check_broadcast(
    part: str, part_desc: TensorDescriptor, whole: str, whole_desc: TensorDescriptor
) -> None:
    """Refuse a tensor whose shape is not that of another one, but for ones in it.

    Raises
    ------
    ValueError
    """
    given, shape = part_desc.shape, whole_desc.shape
    if len(given) != len(shape) or any(
        n not in (1, full) for n, full in zip(given, shape, strict=True)
    ):
        raise ValueError(
            f"{part}: expected shape {shape}, that of {whole}, with ones where it is repeated, got "
            f"{given}"
        )

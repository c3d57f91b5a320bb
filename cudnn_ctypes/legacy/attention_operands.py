"""Operands of multi-head attention: described alike, and held against the attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import raw
from ..arguments import expect, integers
from ..handle import Handle
from ..raw import operand_rules
from ..raw.records import record
from ..runtime import DeviceTensor
from ..runtime.layout import to_shape
from .attention_descriptor import AttnDescriptor
from .attention_weights import AttentionBufferSizes, attention_buffer_sizes
from .sequence_data import SeqDataDescriptor, axis_letters, fitting_axes, four_dimensions
from .sequence_operands import SequenceOperands

__all__ = ["AttentionOperands"]

Lengths = Sequence[int] | None


class AttentionOperands(SequenceOperands):
    """The operands q, k, v, and the output y or its gradient dy, of one call.

    Parameters
    ----------
    handle : Handle
    attn : AttnDescriptor
    training : bool
        Whether there is a reserve space.
    **operands : (object, SeqDataDescriptor or None)
        y may be None: it is made.
    """

    def __init__(
        self,
        handle: Handle,
        attn: AttnDescriptor,
        *,
        training: bool,
        **operands: tuple[Any, SeqDataDescriptor | None],
    ) -> None:
        described: dict[str, Any] = operands
        super().__init__(handle, **described)
        self.attn: AttnDescriptor = expect("attn", attn, AttnDescriptor)
        attn._check_dropouts()
        self.sizes: AttentionBufferSizes = attention_buffer_sizes(handle, attn, training=training)
        self.output = "y" if "y" in operands else "dy"
        self._axes: Any = None

    def describe_all(self, q_lengths: Lengths, k_lengths: Lengths) -> None:
        """Make the descriptors that are missing, of sequences of these lengths; None is all."""
        self.require("q", "k", "v", *(["dy"] if self.output == "dy" else []))
        self._axes = self._common_axes()
        q, k = (
            None if each is None else to_shape(each, name)
            for name, each in (("q_lengths", q_lengths), ("k_lengths", k_lengths))
        )
        described: dict[str, SeqDataDescriptor] = {}
        for name, lengths in {"q": q, "k": k, "v": k, self.output: q}.items():
            value, desc = self._operands[name]
            if desc is None and value is None:  # y
                source = described["q"]
                shape = (*source.shape[:3], self.attn.output_size)
                desc = SeqDataDescriptor(
                    shape, self.attn.data_type, axes=self._axes, lengths=source.lengths
                )
                self.enter_context(desc)
            elif desc is None:
                desc = SeqDataDescriptor.of(value, lengths=lengths, axes=self._axes)
                self.enter_context(desc)
            elif lengths is not None and lengths != desc.lengths:
                raise ValueError(
                    f"{name}_desc: has lengths {desc.lengths}, but {lengths} were given"
                )
            self.alike(name, value, desc)
            described[name] = desc
        in_c = {role: f"{role}Desc" for role in ("q", "k", "v")} | {self.output: "oDesc"}
        descriptors = {in_c[role]: desc for role, desc in described.items()}
        operand_rules.check(
            raw.FUNCTIONS["cudnnMultiHeadAttnForward"],
            {"attnDesc": self.attn, **descriptors},
            {name: role for role, name in in_c.items()},
        )
        self._check_projections(described["q"])

    def _check_projections(self, q: SeqDataDescriptor) -> None:
        """Refuse what an H200 computes wrong, with cuDNN 9.14 and 9.19.

        They multiply the attention of all heads but the first with what lies behind v, whatever the
        sizes, types and steps.
        """
        _, batch, beam, _ = q.shape
        order = (raw.CUDNN_SEQDATA_BATCH_DIM, raw.CUDNN_SEQDATA_TIME_DIM)
        batch_is_outer = batch > 1 and tuple(axis for axis in q.axes if axis in order) == order
        attn = record(self.attn)
        unprojected = attn.o_projection and not attn.v_projection
        if attn.heads > 1 and unprojected and beam == 1 and not batch_is_outer:
            raise ValueError(
                "attn: with several heads and an output projection, but v_projection=0, cuDNN "
                "gives wrong results for a beam of 1, unless there are several batch entries, and "
                "they lie outside of the time steps in memory (NTBV); else project v with identity "
                "matrices"
            )

    def _common_axes(self) -> Any:
        """The order in memory that all operands have, which cuDNN asks for."""
        fitting: dict[str, list[Any]] = {}
        for name, (value, desc) in self._operands.items():
            if desc is not None:
                fitting[name] = [expect(f"{name}_desc", desc, SeqDataDescriptor).axes]
            elif value is not None:
                fitting[name] = fitting_axes(*four_dimensions(name, value))
        common = [each for each in fitting["q"] if all(each in rest for rest in fitting.values())]
        if not common:
            shown = "; ".join(
                f"{name} {' or '.join(map(axis_letters, orders)) or 'none'}"
                for name, orders in fitting.items()
            )
            raise ValueError(
                f"all operands must have (time, batch, beam, vector) dense and in the same order "
                f"in memory, vectors last: {shown}"
            )
        return common[0]

    def new_like(self, name: str, source: str, *, zeros: bool = False) -> DeviceTensor:
        """Make a result by the descriptor of `name` or else `source`; without beam as `source`."""
        desc: Any = self._operands[name if name in self._operands else source][1]
        shape, strides = desc.shape, desc.strides
        if getattr(self._operands[source][0], "ndim", 4) == 3:
            shape, strides = (*shape[:2], shape[3]), (*strides[:2], strides[3])
        result = self.new(shape, desc.data_type, strides=strides, zeros=zeros)
        self.alike(name, result, desc)
        return result

    # -- what is not sequences ---------------------------------------------------------------

    def windows(
        self, low: Any, high: Any, current: int | None = None
    ) -> dict[str, tuple[int, ...]]:
        """The windows of all queries: C reads one entry for each, or the current one's."""
        steps, keys = self.describe("q").shape[0], self.describe("k").shape[0]
        wanted = steps if current is None else current + 1
        arrays = []
        for name, value, default in (("low", low, 0), ("high", high, keys)):
            array = (default,) * steps if value is None else integers(name, value)
            if len(array) < wanted:
                raise ValueError(
                    f"{name}: expected {wanted} entries, one for each time step of the queries, "
                    f"got {len(array)}"
                )
            arrays.append(array)
        return {"loWinIdx": arrays[0], "hiWinIdx": arrays[1]}

    def device_lengths(self, q: Any, k: Any) -> tuple[Any, Any]:
        """The sequences' lengths in device memory: those given, else copies of the descriptors'."""
        arguments = (("device_q_lengths", q, "q"), ("device_k_lengths", k, "k"))
        lengths = [self.describe(source).lengths for _, _, source in arguments]
        return tuple(  # type: ignore[return-value]
            self.copied(of) if value is None else self.integers(name, value, len(of))
            for (name, value, _), of in zip(arguments, lengths, strict=True)
        )

    def launch_with(
        self,
        function: Callable[..., Any],
        weights: Any,
        workspace: Any,
        reserve: Any,
        **others: Any,
    ) -> None:
        """Launch a function with what all four have: operands, weights, spaces."""
        self.launch(
            function,
            attnDesc=self.attn,
            queries="q",
            keys="k",
            values="v",
            weights=self.room("weights", weights, self.sizes.weights),
            workSpace=self.workspace(workspace, self.sizes.workspace),
            reserveSpace=self.room("reserve_space", reserve, self.sizes.reserve_space),
            **others,
        )

"""``ActivationDescriptor`` against what was set."""

from __future__ import annotations

import itertools

import pytest

from cudnn_ctypes import ActivationDescriptor, raw

MODES = {
    "sigmoid": raw.CUDNN_ACTIVATION_SIGMOID,
    "relu": raw.CUDNN_ACTIVATION_RELU,
    "tanh": raw.CUDNN_ACTIVATION_TANH,
    "clipped_relu": raw.CUDNN_ACTIVATION_CLIPPED_RELU,
    "elu": raw.CUDNN_ACTIVATION_ELU,
    "identity": raw.CUDNN_ACTIVATION_IDENTITY,
    "swish": raw.CUDNN_ACTIVATION_SWISH,
}
NAN = {
    "propagate_nan": raw.CUDNN_PROPAGATE_NAN,
    "not_propagate_nan": raw.CUDNN_NOT_PROPAGATE_NAN,
}


@pytest.mark.parametrize(("mode", "nan"), [*itertools.product(MODES, NAN)])
def test_reads_back_what_was_set(mode: str, nan: str) -> None:
    with ActivationDescriptor(mode, nan_propagation=nan, coef=1.5, swish_beta=2.5) as descriptor:
        assert descriptor.mode == MODES[mode]
        assert descriptor.nan_propagation == NAN[nan]
        assert descriptor.coef == 1.5
        assert descriptor.swish_beta == 2.5
        descriptor.swish_beta = 0.25
        assert descriptor.swish_beta == 0.25
        descriptor.set(raw.CUDNN_ACTIVATION_ELU, raw.CUDNN_PROPAGATE_NAN, 0.125)
        assert (descriptor.mode, descriptor.coef) == (raw.CUDNN_ACTIVATION_ELU, 0.125)
        assert descriptor.swish_beta == 0.25


def test_a_new_one_is_a_plain_relu() -> None:
    with ActivationDescriptor() as descriptor:
        assert repr(descriptor) == (
            "ActivationDescriptor(mode='relu', nan_propagation='propagate_nan', coef=0.0, "
            "swish_beta=1.0)"
        )


def test_names_are_those_of_c_too() -> None:
    for name in ("CUDNN_ACTIVATION_CLIPPED_RELU", "Clipped-ReLU", "clipped_relu"):
        with ActivationDescriptor(name) as descriptor:
            assert descriptor.mode == raw.CUDNN_ACTIVATION_CLIPPED_RELU


def test_a_misspelt_mode_is_answered_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"mode: .*did you mean 'sigmoid'"):
        ActivationDescriptor("sigmod")


def test_a_member_of_another_enum_is_refused() -> None:
    with pytest.raises(TypeError, match="mode: expected a cudnnActivationMode_t"):
        ActivationDescriptor(raw.CUDNN_POOLING_MAX)

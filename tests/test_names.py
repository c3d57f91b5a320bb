"""One word per concept in all public signatures, and the rules that the names follow."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import cudnn_ctypes
from cudnn_ctypes import graph, legacy, reference

WORDS = {
    "average_factor": "exponential_average_factor momentum",
    "coef": "coefficient",
    "compute_data_type": "compute_type compute_precision math_prec",
    "data_type": "datatype",
    "dbias": "dbiases grad_bias",
    "dx": "grad_x grad_input dinput",
    "dy": "dout grad_y grad_output",
    "epsilon": "eps",
    "nan_propagation": "nan_prop nan_opt",
    "op": "operator",
    "reserve_space": "reserve",
    "saved_inv_variance": "inv_variance saved_inv_deviation inv_deviation save_inv_variance",
    "saved_mean": "save_mean",
    "w": "filters",
    "workspace": "work_space scratch_space",
}
"""The word for each concept, and those that mean the same."""

REFUSED = {refused: word for word, others in WORDS.items() for refused in others.split()}

_NAMES = ("a", "b", "c", "w", "x", "y", "z", "q", "k", "v", "bias", "scale", "grid", "theta")
OPERANDS = {*_NAMES, *(f"d{name}" for name in _NAMES), "db"}
"""What backward functions take by keyword only."""

DEFAULTS: dict[float, str] = {
    0: "beta beta_dgrid beta_param biases bidirectional by_value coef compile despite_faults "
    "deterministic edge_feat_dim every_engine flush indices input_size hidden_size k_projection "
    "max_label_length memory nan node_feat_dim o_projection offset override_shapes padding "
    "q_projection rate relu restore scratch seconds seed skip_input v_projection vector_size "
    "virtual with_dz adds without_engine",
    1: "active alpha alpha1 alpha2 alpha_dgrid alpha_param cold_cache concat_heads dilation "
    "final_states groups heads initial_gradients jobs keep keep_powers layers max_batch max_beam "
    "num_heads output padded_io program propagate_nan ragged_offset_multiplier save scaler "
    "statistics stride swish_beta training vector_count warm_up with_dmeans with_gradients",
    1e-5: "epsilon", 1e-4: "lrn_alpha", 0.2: "activation_alpha", 0.75: "lrn_beta", 2: "k", 5: "n",
    16: "alignment", 60: "budget", 100: "width", 4096: "max_size",
}  # fmt: skip
"""Defaults that are numbers or flags, by what they are, wherever a parameter has this name."""

OWN_DEFAULTS: dict[str, float] = {
    "LRNDescriptor(alpha)": 1e-4, "LRNDescriptor(beta)": 0.75, "add_tensor(beta)": 1,
    "reference:convolution_bias_activation_forward(alpha2)": 0, "FilterDescriptor.of(min_dims)": 3,
    "TensorDescriptor.of(min_dims)": 2, "Graph.autotune(knobs)": 0, "Graph.judge(knobs)": 2,
    "Graph.autotune(runs)": 20, "Graph.judge(runs)": 5, "PlanCache(limit)": 256 << 20,
    "Explanation.advice(limit)": 30,
}  # fmt: skip

NO_RESULTS = {"RNNLayerWeights"}
"""Tuples that no operation returns."""


def public(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions and classes of a module, and the methods of its classes, by name."""
    for name in sorted({*dir(module), *getattr(module, "__all__", ())}):
        value = None if name.startswith("_") else getattr(module, name)
        if not str(getattr(value, "__module__", "")).startswith("cudnn_ctypes."):
            continue
        if inspect.isclass(value):
            yield name, value
            for method, member in vars(value).items():
                function = getattr(member, "__func__", member)  # of a class method
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(value):
            yield name, value


CALLABLES = {
    f"{module.__name__.removeprefix('cudnn_ctypes').removeprefix('.')}:{name}": value
    for module in (cudnn_ctypes, legacy, reference, graph)
    for name, value in public(module)
}


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # of C
        return []


def test_there_is_something_to_look_at() -> None:
    assert len(CALLABLES) > 300
    assert ":activation_backward" in CALLABLES
    assert "reference:activation_backward" in CALLABLES
    assert ":DeviceTensor.empty" in CALLABLES


def test_each_concept_has_one_word() -> None:
    found = {
        f"{name}({parameter.name}): say {REFUSED[parameter.name]}"
        for name, function in CALLABLES.items()
        for parameter in parameters(function)
        if parameter.name in REFUSED
    }
    assert not found


def test_each_word_has_one_default() -> None:
    words = {word: value for value, words in DEFAULTS.items() for word in words.split()}
    found, expected = {}, {}
    for name, function in CALLABLES.items():
        for parameter in parameters(function):
            place = f"{name}({parameter.name})"
            own = OWN_DEFAULTS.get(place, OWN_DEFAULTS.get(place.partition(":")[2]))
            default = words.get(parameter.name) if own is None else own
            if default is not None and type(parameter.default) in (bool, int, float):
                found[place], expected[place] = parameter.default, default
    assert len(found) > 400
    assert found == expected


def test_results_have_the_same_words() -> None:
    found = set()
    for name, value in CALLABLES.items():
        if inspect.isclass(value):
            fields = getattr(value, "_fields", ())
            if dataclasses.is_dataclass(value):
                fields = tuple(field.name for field in dataclasses.fields(value))
            found |= {f"{name}.{field}" for field in fields if field in REFUSED}
    assert not found


def test_backward_functions_take_their_operands_by_keyword() -> None:
    by_position = {
        f"{name}({parameter.name})"
        for name, value in CALLABLES.items()
        if "backward" in name.lower() and inspect.isfunction(value)
        for parameter in parameters(value)
        if parameter.kind is not parameter.KEYWORD_ONLY and parameter.name in OPERANDS
    }
    assert not by_position


def test_layers_take_first_what_says_which_operation_it_is() -> None:
    for name in ("activation", "pooling", "dropout"):
        function = CALLABLES[f":{name}_backward"]
        first, second, *others = parameters(function)
        assert (first.name, second.name) == ("handle", name)
        assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)


def test_the_weight_of_a_batch_has_no_default() -> None:
    found = {
        name
        for name, function in CALLABLES.items()
        for parameter in parameters(function)
        if parameter.name == "average_factor" and parameter.default is not parameter.empty
    }
    assert not found


def test_nan_propagates_unless_the_user_says_otherwise() -> None:
    defaults = {
        name: parameter.default
        for name, function in CALLABLES.items()
        for parameter in parameters(function)
        if parameter.name in ("nan_propagation", "propagate_nan")
        and parameter.default is not parameter.empty
    }
    assert len(defaults) > 8
    assert set(defaults.values()) <= {"propagate_nan", True}


def test_what_operations_return_is_a_result_or_gradients() -> None:
    """A tuple with names is called …Result, …Gradients or …Sizes."""
    endings = ("Result", "Gradients", "Sizes")
    tuples = {
        value.__name__
        for name, value in CALLABLES.items()
        if name.startswith("legacy:") and hasattr(value, "_fields")
    }
    assert len(tuples) > 10
    assert {each for each in tuples if not each.endswith(endings)} <= NO_RESULTS

"""Recurrent networks as objects: what random problems do not show."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.reference.rnn_cells import Clip

from .recurrent import Run, example, expected, random_operands
from .recurrent_rounding import tolerances


def check(run: Run, got: dict[str, Any], names: tuple[str, ...] | None = None) -> None:
    problem = run.problem
    exact = expected(problem, run.given)
    allowed = tolerances(problem, run.given, exact)
    for name in names or tuple(exact):
        difference = np.abs(got[name] - exact[name])
        if name in ("y", "dx"):
            difference = difference[problem.valid]
        assert difference.max() <= allowed[name], name


# -- padding and states --------------------------------------------------------------------------


def test_buffers_of_the_caller_and_gradients_that_are_added(handle: cudnn.Handle) -> None:
    problem = example(layers=2, bidirectional=True, projection_size=2)
    with Run(handle, problem, random_operands(problem)) as run:
        network, states = run.network, run.states
        initial = {"hx": states["hx"], "cx": states["cx"]}
        final = {"dhy": states["dhy"], "dcy": states["dcy"]}
        sizes = network.temp_space_sizes(handle)
        lengths = run.put(np.array(problem.lengths, np.int32))
        with (
            cudnn.DeviceBuffer(sizes.workspace) as workspace,
            cudnn.DeviceBuffer(sizes.reserve_space) as kept,
        ):
            options = {"workspace": workspace, "device_lengths": lengths}
            given = network.forward(
                handle, run.x, run.weights, **initial, reserve_space=kept, **options
            )
            assert given.reserve_space is kept
            saved = {"y": given.y, "reserve_space": kept, **options}
            made = network.backward_data(
                handle, dy=run.dy, weights=run.weights, **saved, **initial, **final
            )
            got = {**given._asdict(), **made._asdict()}
            names = ("y", "hy", "cy", "dx", "dhx", "dcx")
            check(run, {name: run.host(got[name]) for name in names}, names)
            dweights = run.enter_context(cudnn.RNNWeights(handle, run.rnn))
            saved |= {"x": run.x, "hx": states["hx"]}
            for _ in range(2):
                result = network.backward_weights(handle, dweights=dweights, **saved)
                assert result is dweights
            doubled = dweights.flat.numpy(stream=handle.stream)
            dweights.zero()
            network.backward_weights(handle, dweights=dweights.space, **saved)
            once = dweights.flat.numpy(stream=handle.stream)
            np.testing.assert_allclose(doubled, 2 * once, rtol=1e-12, atol=1e-14)
            assert np.abs(once).max() > 0.1


# -- clipping ------------------------------------------------------------------------------------


LIMITS = Clip(-0.25, 0.125)  # both are numbers of float32, as the kernels have them


@pytest.mark.parametrize("nan", ["propagate_nan", "not_propagate_nan"])
def test_what_the_clip_makes_of_nan(handle: cudnn.Handle, nan: str) -> None:
    """NaN, or the lower limit; gradients pass through a NaN either way."""
    problem = example(clip=LIMITS._replace(propagate_nan=nan == "propagate_nan"))
    given = random_operands(problem)
    given.cx[0, 0, 0] = np.nan
    with Run(handle, problem, given) as run:
        run.rnn.set_clip_v8(LIMITS[:2], nan)
        got = run.training_step()
    with np.errstate(invalid="ignore"):
        exact = expected(problem, given)
    for name in ("y", "hy", "cy", "dx", "dhx", "dcx"):
        one, other = got[name], exact[name]
        if name in ("y", "dx"):
            one, other = one[problem.valid], other[problem.valid]
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14, err_msg=name)
    assert np.isnan(got["y"]).any() == (nan == "propagate_nan")


# -- dropout -------------------------------------------------------------------------------------


def test_dropout_repeats_for_a_seed_and_is_off_in_inference(handle: cudnn.Handle) -> None:
    problem = example(layers=2)
    given = random_operands(problem)
    with (
        cudnn.DropoutDescriptor(handle, 0.5, seed=3) as dropout,
        Run(handle, problem, given, dropout=dropout) as run,
    ):
        initial = {"hx": run.states["hx"], "cx": run.states["cx"]}

        def y(training: bool = True) -> Any:
            result = run.network.forward(handle, run.x, run.weights, **initial, training=training)
            return run.host(result.y)

        first, second = y(), y()
        dropout.set(0.5, 3)
        np.testing.assert_array_equal(y(), first)
        np.testing.assert_array_equal(y(), second)
        assert (first != second).any()
        check(run, {"y": y(training=False)}, ("y",))


# -- weights -------------------------------------------------------------------------------------


def test_weights_by_layer_and_direction(handle: cudnn.Handle) -> None:
    problem = example(layers=2, bidirectional=True, projection_size=2)
    with Run(handle, problem, random_operands(problem)) as run:
        weights = run.weights
        assert len(weights) == 4
        assert repr(weights) == f"<RNNWeights, 4 pseudo-layers in {weights.space!r}>"
        assert repr(weights[1]).startswith("RNNLayerWeights(w_input (4, 3), w_forget (4, 3), ")
        assert repr(run.network) == f"RNN({run.rnn!r}, {run.network.x_desc!r})"
        names = [f"w_{gate}" for gate in ("input", "forget", "cell", "output")]
        names += [name.replace("w", "r", 1) for name in names] + ["projection"]
        names += [f"b{name}" for name in names[:8]]
        assert list(weights[3]) == names
        assert weights[1, "backward"] is weights[3] is weights[1, 1]
        assert weights[1, "forward"] is weights[2]
        shapes = {name: tensor.shape for name, tensor in weights[2].items()}
        assert shapes["w_forget"] == (4, 4), "reads two directions of 2 projected elements"
        assert weights[0]["w_forget"].shape == (4, 3)
        assert shapes["r_cell"] == (4, 2)
        assert shapes["projection"] == (2, 4)
        assert shapes["bw_output"] == shapes["br_output"] == (4,)
        before = weights.numpy()
        weights.zero()
        assert not any(array.any() for layer in weights.numpy() for array in layer.values())
        weights.copy_from(before)
        for layer, same in zip(weights.numpy(), before, strict=True):
            for name, array in layer.items():
                np.testing.assert_array_equal(array, same[name])


# -- against PyTorch on the reference device -----------------------------------------------------


def test_a_pytorch_model_by_its_own_weights(reference_handle: cudnn.Handle) -> None:
    """How weights carry over: PyTorch stacks the gates, in the same order."""
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle of this test")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.LSTM(3, 5, num_layers=2, bidirectional=True, proj_size=2, batch_first=True)
    x = torch.randn(4, 6, 3)
    with (
        cudnn.RNNDescriptor(
            "lstm", input_size=3, hidden_size=5, projection_size=2, layers=2, bidirectional=True
        ) as rnn,
        cudnn.RNNWeights(reference_handle, rnn) as weights,
    ):
        layers = []
        for number in range(4):
            suffix = f"_l{number // 2}" + "_reverse" * (number % 2)
            stacked = {
                "w": getattr(model, f"weight_ih{suffix}"),
                "r": getattr(model, f"weight_hh{suffix}"),
                "bw": getattr(model, f"bias_ih{suffix}"),
                "br": getattr(model, f"bias_hh{suffix}"),
            }
            layer = {"projection": getattr(model, f"weight_hr{suffix}").detach().numpy()}
            for name, tensor in stacked.items():
                for gate, part in zip(rnn.gates, tensor.detach().chunk(4), strict=True):
                    layer[f"{name}_{gate}"] = part.numpy()
            layers.append(layer)
        weights.copy_from(layers)
        with cudnn.RNN.of(rnn, x, layout="batch_major_unpacked") as network:
            y, hy, cy, _ = network.forward(reference_handle, x, weights, training=False)
        with torch.no_grad():
            expected_y, (expected_h, expected_c) = model(x)
        np.testing.assert_allclose(y.numpy(), expected_y, atol=1e-6)
        np.testing.assert_allclose(hy.numpy(), expected_h, atol=1e-6)
        np.testing.assert_allclose(cy.numpy(), expected_c, atol=1e-6)


# -- lifetime ------------------------------------------------------------------------------------


def test_closing() -> None:
    with cudnn.use_reference_device(), cudnn.Handle() as handle, warnings.catch_warnings():
        warnings.simplefilter("error")
        x = cudnn.DeviceTensor.zeros((5, 2, 3), "float32")
        with cudnn.RNNDescriptor("gru", input_size=3, hidden_size=4) as rnn:
            with cudnn.RNNWeights(handle, rnn) as weights, cudnn.RNN.of(rnn, x) as network:
                network.forward(handle, x, weights)
                descriptors = (network.x_desc, network.y_desc, network.h_desc, network.c_desc)
            assert all(descriptor.closed for descriptor in descriptors)
            assert weights.closed
            network.close()
            weights.close()
            assert not rnn.closed
            with pytest.raises(ClosedError):
                network.forward(handle, x, weights)
            with cudnn.RNNDataDescriptor.of(x) as x_desc:
                cudnn.RNN(rnn, x_desc).close()
                assert not x_desc.closed
        gc.collect()


# -- wrong input ---------------------------------------------------------------------------------


class TestWrongInput:
    @pytest.fixture
    def run(self, reference_handle: cudnn.Handle) -> Any:
        problem = example(layers=2)
        with Run(reference_handle, problem, random_operands(problem)) as run:
            yield run

    def test_sequences_that_the_network_does_not_read(self, run: Run) -> None:
        for x, options, message in (
            (
                cudnn.DeviceTensor.zeros((5, 2, 4), "float64"),
                {},
                "x: expected vectors of 3 elements",
            ),
            (cudnn.DeviceTensor.zeros((5, 2, 3), "float32"), {}, "x: expected CUDNN_DATA_DOUBLE"),
            (cudnn.DeviceTensor.zeros((5, 3), "float64"), {}, "x: expected 3 dimensions"),
            (run.x, {"lengths": (5, 5)}, "lengths: expected 4 in shape"),
            (run.x, {"lengths": (6, 5, 5, 5)}, "lengths: expected ints from 0 to 5"),
        ):
            with pytest.raises(ValueError, match=message):
                cudnn.RNN.of(run.rnn, x, **options)
        with cudnn.RNNDescriptor("gru", input_size=3, hidden_size=4, padded_io=False) as rnn:
            x = cudnn.DeviceTensor.zeros((5, 2, 3), "float32")
            cudnn.RNN.of(rnn, x).close()
            with pytest.raises(ValueError, match="x: padding needs padded"):
                cudnn.RNN.of(rnn, x, lengths=[5, 4])
            with pytest.raises(ValueError, match=r"x: .*BATCH_MAJOR.* needs padded"):
                cudnn.RNN.of(rnn, x, layout="batch_major_unpacked")
        with pytest.raises(TypeError, match="x: expected a tensor, got None"):
            cudnn.RNN.of(run.rnn, None)
        for lengths in ([5, 5, 5, 1.5], "5555", 5):
            with pytest.raises(TypeError, match="lengths: expected ints, got"):
                cudnn.RNN.of(run.rnn, run.x, lengths=lengths)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="x_desc: expected a RNNDataDescriptor"):
            cudnn.RNN(run.rnn, run.x)  # type: ignore[arg-type]

    def test_cell_states_of_other_cells(self, reference_handle: cudnn.Handle) -> None:
        problem = example("gru")
        with Run(reference_handle, problem, random_operands(problem)) as run:
            states = cudnn.DeviceTensor.zeros((1, 4, 4), "float64")
            for name in ("cx", "cy"):
                with pytest.raises(ValueError, match=f"{name}: only an LSTM has cell states"):
                    run.network.forward(run.handle, run.x, run.weights, **{name: states})

    def test_weights(self, run: Run) -> None:
        weights = run.weights
        with pytest.raises(KeyError, match="w_reset: this layer has w_input, w_forget"):
            _ = weights[0]["w_reset"]
        with pytest.raises(IndexError):
            _ = weights[2]
        with pytest.raises(IndexError, match="no direction 'backward' in a network of 1"):
            _ = weights[0, "backward"]
        layers = weights.numpy()
        with pytest.raises(ValueError, match="layers: expected 2, got 1"):
            weights.copy_from(layers[:1])
        with pytest.raises(ValueError, match=r"layers\[1\]\['w_cell'\]: expected shape \(4, 4\)"):
            weights.copy_from([layers[0], {**layers[1], "w_cell": np.zeros(3)}])
        with pytest.raises(TypeError, match=r"^layers: expected a sequence of mappings"):
            weights.copy_from(layers[0])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^space: expected a DeviceBuffer"):
            cudnn.rnn_weight_params(run.handle, run.rnn, 0, 0, None)  # type: ignore[arg-type]
        del layers[1]["w_cell"]
        with pytest.raises(ValueError, match=r"layers\[1\]: expected w_input"):
            weights.copy_from(layers)
        with pytest.raises(TypeError, match="rnn: expected a RNNDescriptor"):
            cudnn.RNNWeights(run.handle, "lstm")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^space: expected a DeviceBuffer"):
            cudnn.RNNWeights(run.handle, run.rnn, space=run.x)  # type: ignore[arg-type]

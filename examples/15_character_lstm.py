"""An LSTM learns the Zen of Python by heart, character by character, with cuDNN calls alone.

    one character as a one-hot vector  ->  LSTM  ->  1x1 convolution  ->  softmax  ->  the next one

Trained on pieces of the text, it then goes on from its first words: what it wrote last is what it
reads next. Even the update, gradient descent with momentum, is done by cuDNN. Run it with
CUDNN_CTYPES_DEVICE=reference where there is no GPU.
"""

import codecs
import contextlib
import io

import numpy as np

from cudnn_ctypes import (
    RNN,
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    RNNDescriptor,
    RNNWeights,
    TensorDescriptor,
    add_tensor,
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
    op_tensor,
    softmax_forward,
)

with contextlib.redirect_stdout(io.StringIO()):
    import this  # prints itself when it is imported

text = codecs.decode(this.s, "rot13")
characters = sorted(set(text))
codes = np.array([characters.index(character) for character in text])
vocabulary, hidden = len(characters), 96
steps, batch, iterations, learning_rate, momentum = 64, 16, 301, 1.5, 0.9
rng = np.random.default_rng(0)


def one_hot(indices: np.ndarray) -> DeviceTensor:
    """A last dimension of zeros, with a one at each index."""
    return DeviceTensor.from_numpy(np.eye(vocabulary, dtype=np.float32)[indices])


def initial(*shape: int) -> np.ndarray:
    values: np.ndarray = rng.uniform(-1, 1, shape) / np.sqrt(hidden)
    return values.astype(np.float32)


def descend(handle: Handle, w: DeviceTensor, v: DeviceTensor, gradient: DeviceTensor) -> None:
    """v = momentum * v + gradient, w = w - learning_rate * v, whatever the shape."""
    with TensorDescriptor((1, w.size, 1, 1)) as flat:
        add_tensor(handle, gradient, v, beta=momentum, a_desc=flat, c_desc=flat)
        add_tensor(handle, v, w, alpha=-learning_rate, a_desc=flat, c_desc=flat)


class Model:
    """The LSTM, and the convolution that makes scores of its outputs."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.rnn = RNNDescriptor("lstm", input_size=vocabulary, hidden_size=hidden)
        self.lstm = RNNWeights(handle, self.rnn)
        for name, tensor in self.lstm[0].items():
            tensor.copy_from(initial(*tensor.shape) + np.float32(name == "bw_forget"))
        self.w = DeviceTensor.from_numpy(initial(vocabulary, hidden, 1, 1))
        self.b = DeviceTensor.zeros((1, vocabulary, 1, 1), "float32")
        self.conv = ConvolutionDescriptor()
        self.parameters = [self.lstm.flat, self.w, self.b]

    def scores(self, y: DeviceTensor) -> DeviceTensor:
        """(T * B, vocabulary, 1, 1); each output (T, B, hidden) is an image of one pixel."""
        with TensorDescriptor((y.size // hidden, hidden, 1, 1)) as images:
            scores = convolution_forward(self.handle, y.ptr, self.w, self.conv, x_desc=images)
        return add_tensor(self.handle, self.b, scores)

    def close(self) -> None:
        for resource in (self.conv, self.lstm, self.rnn):
            resource.close()


class Training:
    """Steps of training on (T, B) characters; gradients and momentum stay from one to the next."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.network = RNN.of(model.rnn, np.empty((steps, batch, vocabulary), np.float32))
        self.images = TensorDescriptor((steps * batch, hidden, 1, 1))
        self.gradients = RNNWeights(model.handle, model.rnn)
        self.velocities = [DeviceTensor.zeros(p.shape, "float32") for p in model.parameters]

    def step(self, read: np.ndarray, following: np.ndarray) -> float:
        """Forward, backward, update; returns the mean of -log(probability) before it."""
        model, handle, network = self.model, self.model.handle, self.network
        target, x = following.reshape(-1), one_hot(read)
        y, _, _, reserve_space = network.forward(handle, x, model.lstm)
        probabilities = softmax_forward(handle, model.scores(y))
        likelihood = probabilities.numpy()[np.arange(len(target)), target, 0, 0]

        # The gradient of that mean by the scores is (probabilities - one_hot) / count.
        wanted, share = one_hot(target[:, None, None]), 1 / len(target)
        with TensorDescriptor((len(target), vocabulary, 1, 1)) as b_desc:
            dscores = op_tensor(
                handle, probabilities, wanted, "add", alpha1=share, alpha2=-share, b_desc=b_desc
            )
        dw = convolution_backward_filter(
            handle, model.conv, x=y.ptr, dy=dscores, x_desc=self.images, dw_shape=model.w.shape
        )
        db = convolution_backward_bias(handle, dy=dscores)
        dy = DeviceTensor.empty(y.shape, "float32")
        convolution_backward_data(
            handle, model.conv, w=model.w, dy=dscores, dx=dy, dx_desc=self.images
        )
        saved = {"y": y, "reserve_space": reserve_space}
        network.backward_data(handle, dy=dy, weights=model.lstm, initial_gradients=False, **saved)
        self.gradients.zero()
        network.backward_weights(handle, x=x, dweights=self.gradients, **saved)

        everything = (model.parameters, self.velocities, [self.gradients.flat, dw, db])
        for w, v, gradient in zip(*everything, strict=True):
            descend(handle, w, v, gradient)
        return float(-np.log(likelihood).mean())

    def close(self) -> None:
        for resource in (self.gradients, self.images, self.network):
            resource.close()


def write(model: Model, beginning: str, count: int) -> str:
    """Read the beginning, then go on, always with the likeliest character."""
    written, read = beginning, beginning
    hx = cx = None
    while len(written) < count:
        x = one_hot(np.array([[characters.index(character)] for character in read]))
        with RNN.of(model.rnn, x) as network:
            y, hx, cx, _ = network.forward(
                model.handle, x, model.lstm, hx=hx, cx=cx, training=False
            )
        read = characters[int(model.scores(y).numpy()[-1].argmax())]
        written += read
    return written


with Handle() as handle, contextlib.closing(Model(handle)) as model:
    print(handle)
    print(f"{len(text)} characters, {vocabulary} different ones, {model.lstm.flat.size} weights")
    losses: list[float] = []
    with contextlib.closing(Training(model)) as training:
        for iteration in range(iterations):
            starts = rng.integers(0, len(codes) - steps, batch)
            places = np.arange(steps)[:, None] + starts  # (T, B)
            losses.append(training.step(codes[places], codes[places + 1]))
            if iteration % 50 == 0:
                print(f"step {iteration:3}: {losses[-1]:.3f} nats per character")
    beginning = "Beautiful"
    written = write(model, beginning, 230)
    print(f"\n{beginning}|{written[len(beginning) :]}")
    assert losses[-1] < 0.1 * losses[0]

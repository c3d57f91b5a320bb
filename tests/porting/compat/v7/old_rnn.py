"""A program as it was written for cuDNN 7: a network of PyTorch's, trained for one step.

Every name is of `v7`. The weights go where `cudnnGetRNNLinLayerMatrixParams` says.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from ctypes import byref, c_int, c_size_t, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import DeviceTensor
from cudnn_ctypes.porting.compat import v7 as cudnn

Array = NDArray[Any]

CELLS = {"RNN": cudnn.CUDNN_RNN_TANH, "LSTM": cudnn.CUDNN_LSTM, "GRU": cudnn.CUDNN_GRU}
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


class OldProgram:
    """Descriptors, weights and buffers of one network, and the three passes.

    Parameters
    ----------
    model : torch.nn.RNN, LSTM or GRU
        On the CPU.
    lengths : list of int
        Of the sequences, the longest first.
    """

    def __init__(
        self,
        handle: Any,
        model: Any,
        lengths: list[int],
        *,
        algorithm: Any = cudnn.CUDNN_RNN_ALGO_STANDARD,
        set_descriptor: str = "v6",
        ex: bool = False,
    ) -> None:
        self.handle, self.model, self.ex = handle, model, ex
        self.lengths = lengths
        self.batches = [sum(length > step for length in lengths) for step in range(lengths[0])]
        self.dtype = np.dtype(str(next(model.parameters()).dtype).removeprefix("torch."))
        self.double = self.dtype == np.float64
        self.data_type = cudnn.CUDNN_DATA_DOUBLE if self.double else cudnn.CUDNN_DATA_FLOAT
        self.closing = ExitStack()
        self.directions = 2 if model.bidirectional else 1
        self.state_size = model.proj_size or model.hidden_size
        self.rnn = self.made(cudnn.cudnnRNNDescriptor_t, "RNN")
        self.set(set_descriptor, algorithm)
        self.x_descs = self.steps(model.input_size)
        self.y_descs = self.steps(self.state_size * self.directions)
        self.h_desc = self.states(self.state_size)
        self.c_desc = self.states(model.hidden_size)
        self.make_weights()
        self.make_buffers()

    def __enter__(self) -> OldProgram:
        return self

    def __exit__(self, *exception: object) -> None:
        self.closing.close()

    def made(self, kind: Any, name: str) -> Any:
        descriptor = kind()
        getattr(cudnn, f"cudnnCreate{name}Descriptor")(descriptor)
        self.closing.callback(getattr(cudnn, f"cudnnDestroy{name}Descriptor"), descriptor)
        return descriptor

    # -- descriptors ---------------------------------------------------------------------------

    def set(self, how: str, algorithm: Any) -> None:
        model = self.model
        bidirectional = model.bidirectional
        direction = cudnn.CUDNN_BIDIRECTIONAL if bidirectional else cudnn.CUDNN_UNIDIRECTIONAL
        cell = CELLS[type(model).__name__]
        about = model.hidden_size, model.num_layers, None, cudnn.CUDNN_LINEAR_INPUT, direction, cell
        if how == "v5":
            cudnn.cudnnSetRNNDescriptor_v5(self.rnn, *about, self.data_type)
        elif how == "plain of 6":
            cudnn.cudnnSetRNNDescriptor(self.rnn, *about, self.data_type)
        elif how == "plain of 7":
            cudnn.cudnnSetRNNDescriptor(self.handle, self.rnn, *about, algorithm, self.data_type)
        else:
            cudnn.cudnnSetRNNDescriptor_v6(self.handle, self.rnn, *about, algorithm, self.data_type)
        if model.proj_size:
            cudnn.cudnnSetRNNProjectionLayers(self.handle, self.rnn, model.proj_size, 0)
        if not self.double:  # exact products
            cudnn.cudnnSetRNNMatrixMathType(self.rnn, cudnn.CUDNN_FMA_MATH)
        if algorithm == cudnn.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
            plan = cudnn.cudnnPersistentRNNPlan_t()
            cudnn.cudnnCreatePersistentRNNPlan(
                self.rnn, len(self.lengths), self.data_type, byref(plan)
            )
            self.closing.callback(cudnn.cudnnDestroyPersistentRNNPlan, plan)
            cudnn.cudnnSetPersistentRNNPlan(self.rnn, plan)

    def tensor(self, *dims: int) -> Any:
        descriptor = self.made(cudnn.cudnnTensorDescriptor_t, "Tensor")
        strides = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
        count = len(dims)
        cudnn.cudnnSetTensorNdDescriptor(descriptor, self.data_type, count, dims, strides)
        return descriptor

    def steps(self, size: int) -> Any:
        """One descriptor for each time step, or one of all sequences for the ...Ex functions."""
        if not self.ex:
            descriptors = [self.tensor(batch, size, 1) for batch in self.batches]
            return (cudnn.cudnnTensorDescriptor_t * len(descriptors))(*descriptors)
        data = self.made(cudnn.cudnnRNNDataDescriptor_t, "RNNData")
        layout = cudnn.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
        steps, batch = self.lengths[0], len(self.lengths)
        cudnn.cudnnSetRNNDataDescriptor(
            data, self.data_type, layout, steps, batch, size, self.lengths, None
        )
        return data

    def states(self, size: int) -> Any:
        return self.tensor(self.model.num_layers * self.directions, self.batches[0], size)

    # -- weights -------------------------------------------------------------------------------

    def make_weights(self) -> None:
        self.first_x = self.tensor(self.batches[0], self.model.input_size, 1)
        size = c_size_t()
        cudnn.cudnnGetRNNParamsSize(self.handle, self.rnn, self.first_x, size, self.data_type)
        count = size.value // self.dtype.itemsize
        self.w_desc = self.made(cudnn.cudnnFilterDescriptor_t, "Filter")
        cudnn.cudnnSetFilterNdDescriptor(
            self.w_desc, self.data_type, cudnn.CUDNN_TENSOR_NCHW, 3, [count, 1, 1]
        )
        self.w = DeviceTensor.zeros((count,), self.dtype)
        self.dw = DeviceTensor.zeros((count,), self.dtype)
        host = np.zeros(count, self.dtype)
        for parameter, where in self.places():
            host[where] = parameter.detach().numpy().ravel()
        self.w = DeviceTensor.from_numpy(host)

    def places(self) -> list[tuple[Any, slice]]:
        """Parts of PyTorch's parameters, each with its elements in the weights."""
        model, found = self.model, []
        gates = GATES[type(model).__name__]
        for layer in range(model.num_layers):
            for direction in range(self.directions):
                suffix = f"l{layer}" + ("_reverse" if direction else "")
                pseudo_layer = layer * self.directions + direction
                for kind, first in (("ih", 0), ("hh", gates)):
                    matrix = getattr(model, f"weight_{kind}_{suffix}").chunk(gates)
                    bias = getattr(model, f"bias_{kind}_{suffix}").chunk(gates)
                    for gate in range(gates):
                        at = pseudo_layer, first + gate
                        found.append((matrix[gate], self.place("Matrix", *at, matrix[gate])))
                        found.append((bias[gate], self.place("Bias", *at, bias[gate])))
                if model.proj_size:
                    projection = getattr(model, f"weight_hr_{suffix}")
                    at = pseudo_layer, 2 * gates
                    found.append((projection, self.place("Matrix", *at, projection)))
        return found

    def place(self, kind: str, pseudo_layer: int, linear_layer: int, part: Any) -> slice:
        descriptor, address = self.made(cudnn.cudnnFilterDescriptor_t, "Filter"), c_void_p()
        get = getattr(cudnn, f"cudnnGetRNNLinLayer{kind}Params")
        weights = self.first_x, self.w_desc, self.w
        at = descriptor, byref(address)
        get(self.handle, self.rnn, pseudo_layer, *weights, linear_layer, *at)
        data_type, layout = cudnn.cudnnDataType_t(), cudnn.cudnnTensorFormat_t()
        ndim, dims = c_int(), (c_int * 3)()
        cudnn.cudnnGetFilterNdDescriptor(descriptor, 3, data_type, layout, ndim, dims)
        assert (data_type.value, ndim.value) == (self.data_type, 3)
        assert list(dims) == [1, *part.shape, 1][:3]
        offset = (address.value - self.w.ptr) // self.dtype.itemsize
        return slice(offset, offset + part.numel())

    # -- buffers and passes --------------------------------------------------------------------

    def make_buffers(self) -> None:
        steps = self.x_descs
        if self.ex:  # these took the descriptors of time steps in cuDNN 7 too
            self.ex = False
            steps = self.steps(self.model.input_size)
            self.ex = True
        sizes = {}
        for name in ("WorkspaceSize", "TrainingReserveSize"):
            size = c_size_t()
            get = getattr(cudnn, f"cudnnGetRNN{name}")
            get(self.handle, self.rnn, len(self.batches), steps, byref(size))
            sizes[name] = size.value
        self.workspace = DeviceTensor.full((sizes["WorkspaceSize"],), 255, "uint8")
        self.reserve = DeviceTensor.full((sizes["TrainingReserveSize"],), 255, "uint8")

    @property
    def spaces(self) -> tuple[Any, ...]:
        return self.workspace, self.workspace.nbytes

    @property
    def reserved(self) -> tuple[Any, ...]:
        return self.reserve, self.reserve.nbytes

    @property
    def begin(self) -> tuple[Any, ...]:
        """The first arguments of every pass."""
        first = (self.handle, self.rnn)
        return first if self.ex else (*first, len(self.batches))

    def function(self, name: str) -> Any:
        return getattr(cudnn, f"cudnnRNN{name}{'Ex' if self.ex else ''}")

    def empty(self, *shape: int) -> DeviceTensor:
        return DeviceTensor.full(shape, float("nan"), self.dtype)

    def forward(self, x: Array, hx: Array, cx: Array | None, *, training: bool = True) -> list[Any]:
        """y, hy and cy."""
        self.x, self.hx = DeviceTensor.from_numpy(x), DeviceTensor.from_numpy(hx)
        self.cx = None if cx is None else DeviceTensor.from_numpy(cx)
        self.y = self.empty(len(x), self.state_size * self.directions)
        hy, cy = self.empty(*hx.shape), None if cx is None else self.empty(*cx.shape)
        nulls = (None,) * 8 if self.ex else ()
        self.function("ForwardTraining" if training else "ForwardInference")(
            *self.begin,
            *(self.x_descs, self.x),
            *(self.h_desc, self.hx),
            *(self.c_desc, self.cx),
            *(self.w_desc, self.w),
            *(self.y_descs, self.y),
            *(self.h_desc, hy),
            *(self.c_desc, cy),
            *nulls,
            *self.spaces,
            *(self.reserved if training else ()),
        )
        return [None if each is None else each.numpy() for each in (self.y, hy, cy)]

    def backward(self, dy: Array, dhy: Array, dcy: Array | None) -> list[Any]:
        """dx, dhx and dcx."""
        dx = self.empty(*self.x.shape)
        dhx, dcx = self.empty(*dhy.shape), None if dcy is None else self.empty(*dcy.shape)
        attention, keys = ((None, None), (None, None)) if self.ex else ((), ())
        self.function("BackwardData")(
            *self.begin,
            *(self.y_descs, self.y),
            *(self.y_descs, DeviceTensor.from_numpy(dy)),
            *attention,
            *(self.h_desc, DeviceTensor.from_numpy(dhy)),
            *(self.c_desc, None if dcy is None else DeviceTensor.from_numpy(dcy)),
            *(self.w_desc, self.w),
            *(self.h_desc, self.hx),
            *(self.c_desc, self.cx),
            *(self.x_descs, dx),
            *(self.h_desc, dhx),
            *(self.c_desc, dcx),
            *keys,
            *self.spaces,
            *self.reserved,
        )
        return [None if each is None else each.numpy() for each in (dx, dhx, dcx)]

    def backward_weights(self) -> Array:
        """The gradients added to `dw`, as the weights lie."""
        self.function("BackwardWeights")(
            *self.begin,
            *(self.x_descs, self.x),
            *(self.h_desc, self.hx),
            *(self.y_descs, self.y),
            *self.spaces,
            *(self.w_desc, self.dw),
            *self.reserved,
        )
        return self.dw.numpy()

"""Solutions of lesson 8: attention."""

import numpy as np
from cudnn_ctypes import DeviceTensor, Graph, Handle, use_reference_device

use_reference_device()
handle = Handle()


def masked(scores):
    """Mask the scores, not the weights: exp makes 0 of minus infinity."""
    scores = np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(q, k, v, **options):
    """Without `attn_scale` the scale is 1 / sqrt(size)."""
    with Graph("attention", io_data_type="float16") as graph:
        arrays = {"q": q, "k": k, "v": v}
        tensors = [graph.tensor(each.shape, name=name) for name, each in arrays.items()]
        o, _ = graph.sdpa(*tensors, use_causal_mask=True, **options)
        o.set_output(name="o")
        memory = {name: DeviceTensor.from_numpy(each) for name, each in arrays.items()}
        return graph.run(memory, handle=handle)["o"].numpy()


def recent(q, k, v, length):
    """A causal mask ends the window at the word; the length says where it begins."""
    return attend(q, k, v, sliding_window_length=length)

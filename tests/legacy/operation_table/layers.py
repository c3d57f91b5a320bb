"""Activation, softmax, pooling, normalizations, dropout, spatial transformer, tensors."""

from __future__ import annotations

import cudnn_ctypes as cudnn

from .case import Case, Operands


def activations(o: Operands) -> dict[str, Case]:
    x, y, dy = (o.normal(2, 4, 6, 6) for _ in range(3))
    swish = o.own(cudnn.ActivationDescriptor("swish", swish_beta=0.5))
    return {
        "activation_forward": o.case(cudnn.activation_forward, x, swish),
        "activation_backward": o.case(cudnn.activation_backward, y=y, dy=dy, x=x, activation=swish),
    }


def softmax(o: Operands) -> dict[str, Case]:
    x, dy = o.normal(2, 4, 6, 6), o.normal(2, 4, 6, 6)
    y = cudnn.softmax_forward(o.handle, x)
    return {
        "softmax_forward": o.case(cudnn.softmax_forward, x),
        "softmax_backward": o.case(cudnn.softmax_backward, y=y, dy=dy),
    }


def pooling(o: Operands) -> dict[str, Case]:
    x, dy, how = o.normal(2, 4, 6, 6), o.normal(2, 4, 3, 3), o.own(cudnn.PoolingDescriptor(2))
    y = cudnn.pooling_forward(o.handle, x, how)
    return {
        "pooling_forward": o.case(cudnn.pooling_forward, x, how),
        "pooling_backward": o.case(cudnn.pooling_backward, y=y, dy=dy, x=x, pooling=how),
    }


def local_normalization(o: Operands) -> dict[str, Case]:
    x, dy, how = o.normal(2, 6, 5, 5), o.normal(2, 6, 5, 5), o.own(cudnn.LRNDescriptor(5))
    y = cudnn.lrn_cross_channel_forward(o.handle, x, how)
    return {
        "lrn_cross_channel_forward": o.case(cudnn.lrn_cross_channel_forward, x, how),
        "lrn_cross_channel_backward": o.case(
            cudnn.lrn_cross_channel_backward, y=y, dy=dy, x=x, lrn=how
        ),
        "divisive_normalization_forward": o.case(cudnn.divisive_normalization_forward, x, how),
        "divisive_normalization_backward": o.case(
            cudnn.divisive_normalization_backward, x=x, dy=dy, lrn=how
        ),
    }


def normalization(o: Operands) -> dict[str, Case]:
    x, dy, scale, bias = o.normal(2, 4, 6, 6), o.normal(2, 4, 6, 6), o.normal(4), o.normal(4)
    mean, variance = o.normal(4), o.full(0.5, 4)
    batch = cudnn.batch_normalization_forward_training_ex(
        o.handle, x, scale, bias, mode="spatial", average_factor=1.0
    )
    given = {"x": x, "dy": dy, "scale": scale}
    half, dhalf, z = (o.half(2, 4, 6, 6) for _ in range(3))
    fused = {"algorithm": "persist", "activation": "relu"}
    norm = cudnn.normalization_forward_training(
        o.handle, half, scale, bias, z=z, average_factor=1.0, **fused
    )
    names = ("y", "saved_mean", "saved_inv_variance", "reserve_space")
    of_norm = {name: getattr(norm, name) for name in names} | fused
    of_norm |= {"x": half, "dy": dhalf, "scale": scale, "bias": bias, "with_dz": True}
    training, spatial = {"average_factor": 1.0}, {"mode": "spatial"}
    of_batch = {"y": batch.y, "bias": bias, "reserve_space": batch.reserve_space, **spatial}
    return {
        "batch_normalization_forward_inference": o.case(
            cudnn.batch_normalization_forward_inference, x, scale, bias, mean, variance
        ),
        "batch_normalization_forward_training": o.case(
            cudnn.batch_normalization_forward_training, x, scale, bias, **training
        ),
        "batch_normalization_backward": o.case(cudnn.batch_normalization_backward, **given),
        "batch_normalization_forward_training_ex": o.case(
            cudnn.batch_normalization_forward_training_ex, x, scale, bias, **spatial, **training
        ),
        "batch_normalization_backward_ex": o.case(
            cudnn.batch_normalization_backward_ex, **given, **of_batch
        ),
        "normalization_forward_inference": o.case(
            cudnn.normalization_forward_inference, x, scale, bias, mean, variance
        ),
        "normalization_forward_training": o.case(
            cudnn.normalization_forward_training, half, scale, bias, z=z, **fused, **training
        ),
        "normalization_backward": o.case(cudnn.normalization_backward, **of_norm),
    }


def dropout(o: Operands) -> dict[str, Case]:
    x, how = o.normal(8, 33), o.own(cudnn.DropoutDescriptor(o.handle, 0.5, seed=1))
    _, reserve_space = cudnn.dropout_forward(o.handle, x, how)
    return {
        "dropout_forward": o.case(cudnn.dropout_forward, x, how),
        "dropout_backward": o.case(
            cudnn.dropout_backward, dy=x, dropout=how, reserve_space=reserve_space
        ),
    }


def spatial_transformer(o: Operands) -> dict[str, Case]:
    x, theta = o.normal(2, 4, 6, 6), o.normal(2, 2, 3)
    dy, dgrid = o.normal(2, 4, 6, 6), o.normal(2, 6, 6, 2)
    how = o.own(cudnn.SpatialTransformerDescriptor((2, 4, 6, 6)))
    grid = cudnn.spatial_tf_grid_generator_forward(o.handle, theta, how)
    return {
        "spatial_tf_grid_generator_forward": o.case(
            cudnn.spatial_tf_grid_generator_forward, theta, how
        ),
        "spatial_tf_grid_generator_backward": o.case(
            cudnn.spatial_tf_grid_generator_backward, dgrid=dgrid, transformer=how
        ),
        "spatial_tf_sampler_forward": o.case(cudnn.spatial_tf_sampler_forward, x, grid, how),
        "spatial_tf_sampler_backward": o.case(
            cudnn.spatial_tf_sampler_backward, x=x, dy=dy, grid=grid, transformer=how
        ),
    }


def tensors(o: Operands) -> dict[str, Case]:
    x, y, bias, w = o.normal(2, 4, 6, 6), o.normal(2, 4, 6, 6), o.normal(4), o.normal(4, 4, 2, 2)
    none = (0, 0, 0, 0)
    fold = o.own(cudnn.TensorTransformDescriptor(none, (0, 0, 2, 2), fold=(2, 2)))
    plain_fold = o.own(cudnn.TensorTransformDescriptor(none, none, fold=(2, 2)))
    maxima = o.own(cudnn.ReduceTensorDescriptor("max", indices=True))
    return {
        "add_tensor": o.case(cudnn.add_tensor, bias, x),
        "set_tensor": o.case(cudnn.set_tensor, y, 3),
        "scale_tensor": o.case(cudnn.scale_tensor, y, 0.5),
        "op_tensor": o.case(cudnn.op_tensor, x, bias, "mul"),
        "reduce_tensor": o.case(cudnn.reduce_tensor, x, maxima, c_shape=(1, 4, 1, 1)),
        "transform_tensor": o.case(cudnn.transform_tensor, x, layout="nhwc"),
        "transform_tensor_ex": o.case(cudnn.transform_tensor_ex, x, fold),
        "transform_filter": o.case(cudnn.transform_filter, w, plain_fold),
    }

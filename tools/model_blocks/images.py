"""Convolutions and what stands around them."""

from __future__ import annotations

from typing import Any

from .blocks import block
from .parts import Parts


@block("ResNet")
def resnet_stem(p: Parts) -> Any:
    y = p.conv_norm(p.image(1, 3, 64, 64), 3, 64, 7, "relu", stride=2)
    return p.pool(y, "max", 3, stride=2, padding=1)


@block("ResNet")
def resnet_bottleneck(p: Parts) -> Any:
    x = p.image(2, 64, 14, 14)
    y = p.conv_norm(p.conv_norm(x, 64, 32, 1, "relu"), 32, 32, 3, "relu")
    return p.apply("relu", p.conv_norm(y, 32, 64, 1) + x)


@block("ResNet")
def resnet_block_of_half_the_size(p: Parts) -> Any:
    """The skip is a convolution, too."""
    x = p.image(2, 64, 14, 14)
    y = p.conv_norm(p.conv_norm(x, 64, 128, 3, "relu", stride=2), 128, 128)
    return p.apply("relu", y + p.conv_norm(x, 64, 128, 1, stride=2))


@block("ResNet")
def pooled_classifier(p: Parts) -> Any:
    y = p.reshape(p.reduce("avg", p.image(4, 64, 7, 7), (2, 3)), (1, 4, 64))
    return p.linear(y, 64, 1000, bias=True)


@block("ResNet")
def batch_norm_in_training(p: Parts) -> Any:
    return p.batch_norm(p.image(4, 32, 14, 14), 32, "relu")


@block("ResNeXt")
def convolution_in_groups(p: Parts) -> Any:
    x = p.image(2, 128, 14, 14)
    y = p.conv_norm(p.conv_norm(x, 128, 64, 1, "relu"), 64, 64, 3, "relu", groups=8)
    return p.apply("relu", p.conv_norm(y, 64, 128, 1) + x)


@block("squeeze and excitation")
def squeeze_and_excitation(p: Parts) -> Any:
    return p.excited(p.image(4, 64, 14, 14), 4, 64, 16)


@block("squeeze and excitation")
def max_and_mean_of_channels(p: Parts) -> Any:
    """CBAM's attention over places."""
    x = p.image(2, 64, 16, 16)
    both = p.cat([p.reduce("max", x, (1,)), p.reduce("avg", x, (1,))], 1)
    return x * p.apply("sigmoid", p.conv(both, 2, 1, 7))


@block("MobileNet")
def inverted_residual(p: Parts) -> Any:
    """Wide, channels apart, narrow."""
    x = p.image(2, 32, 14, 14)
    y = p.conv_norm(x, 32, 128, 1, "relu6")
    y = p.conv_norm(y, 128, 128, 3, "relu6", groups=128)
    return p.conv_norm(y, 128, 32, 1) + x


@block("MobileNet")
def hard_swish_and_excitation(p: Parts) -> Any:
    """Of the third version."""
    x = p.image(2, 40, 14, 14)
    y = p.conv_norm(x, 40, 120, 1, "hardswish")
    y = p.excited(p.conv_norm(y, 120, 120, 5, "hardswish", groups=120), 2, 120, 32)
    return p.conv_norm(y, 120, 40, 1) + x


@block("EfficientNet")
def inverted_residual_and_excitation(p: Parts) -> Any:
    x = p.image(2, 24, 14, 14)
    y = p.conv_norm(x, 24, 144, 1, "silu")
    y = p.excited(p.conv_norm(y, 144, 144, 3, "silu", groups=144), 2, 144, 8)
    return p.conv_norm(y, 144, 24, 1) + x


@block("ConvNeXt")
def convnext(p: Parts) -> Any:
    n, c, size = 2, 96, 14
    x = p.image(n, c, size, size)
    y = p.rows(p.conv(x, c, c, 7, groups=c), 1, n * size * size, c)
    y = p.mlp(p.layer_norm(y, c), c, 4 * c, bias=False)
    return x + p.unrows(y, n, size, c)


@block("DenseNet")
def dense_layer(p: Parts) -> Any:
    """Norm and activation come first; new channels stand beside the old ones."""
    x = p.image(2, 64, 14, 14)
    y = p.apply("relu", x * p.channels(64, "gain") + p.channels(64, "bias"))
    return p.cat([x, p.conv(p.conv_norm(y, 64, 128, 1, "relu"), 128, 32)], 1)


@block("Inception")
def inception(p: Parts) -> Any:
    x = p.image(1, 192, 14, 14)
    one, three = p.conv_norm(x, 192, 64, 1, "relu"), p.conv_norm(x, 192, 96, 1, "relu")
    pooled = p.conv_norm(p.pool(x, "max", 3, stride=1, padding=1), 192, 32, 1, "relu")
    return p.cat([one, p.conv_norm(three, 96, 128, 3, "relu"), pooled], 1)


@block("SqueezeNet")
def fire(p: Parts) -> Any:
    y = p.apply("relu", p.conv(p.image(2, 96, 14, 14), 96, 16, 1))
    return p.cat([p.apply("relu", p.conv(y, 16, 64, size)) for size in (1, 3)], 1)


@block("ShuffleNet")
def shuffled_channels(p: Parts) -> Any:
    x = p.image(2, 64, 14, 14)
    y = p.conv_norm(p.part(x, 1, 32, 64), 32, 32, 1, "relu")
    y = p.conv_norm(p.conv_norm(y, 32, 32, 3, groups=32), 32, 32, 1, "relu")
    y = p.reshape(p.cat([p.part(x, 1, 0, 32), y], 1), (2, 2, 32, 14, 14))
    return p.reshape(p.transpose(y, (0, 2, 1, 3, 4)), (2, 64, 14, 14))


@block("GhostNet")
def ghost_module(p: Parts) -> Any:
    y = p.conv_norm(p.image(2, 32, 14, 14), 32, 32, 1, "relu")
    return p.cat([y, p.conv_norm(y, 32, 32, 3, "relu", groups=32)], 1)


@block("VGG")
def convolution_and_pooling(p: Parts) -> Any:
    y = p.conv(p.image(1, 64, 28, 28), 64, 128) + p.channels(128, "bias", None)
    return p.pool(p.apply("relu", y), "max", 2)


@block("VGG")
def classifier(p: Parts) -> Any:
    y = p.apply("relu", p.linear(p.input(1, 4, 784), 784, 512, bias=True))
    y = p.apply("relu", p.linear(y, 512, 512, bias=True))
    return p.linear(y, 512, 1000, bias=True)


@block("U-Net")
def skip_and_convolution(p: Parts) -> Any:
    """Two images side by side, then a convolution."""
    both = p.cat([p.image(2, 32, 16, 16, name=n) for n in "ab"], 1)
    return p.apply("relu", p.conv(both, 64, 32))


@block("U-Net")
def upsampling_and_convolution(p: Parts) -> Any:
    return p.conv(p.upsample(p.image(2, 32, 8, 8)), 32, 32)


@block("U-Net")
def transposed_convolution_and_skip(p: Parts) -> Any:
    y = p.conv_transposed(p.image(2, 64, 8, 8), 2, 64, (2, 32, 16, 16))
    y = p.cat([p.image(2, 32, 16, 16, name="skip"), y], 1)
    return p.conv_norm(p.conv_norm(y, 64, 32, 3, "relu"), 32, 32, 3, "relu")


@block("latent diffusion")
def group_norm_and_swish(p: Parts) -> Any:
    return p.apply("silu", p.group_norm(p.image(2, 64, 8, 8), 8, (2, 64, 8, 8)))


@block("latent diffusion")
def diffusion_resnet_block(p: Parts) -> Any:
    """With the embedding of the time between the convolutions."""
    x, time = p.image(2, 64, 16, 16), p.input(1, 2, 128, name="time")
    y = p.conv(p.apply("silu", p.group_norm(x, 32, (2, 64, 16, 16))), 64, 128)
    y = y + p.reshape(p.linear(p.apply("silu", time), 128, 128, bias=True), (2, 128, 1, 1))
    y = p.conv(p.apply("silu", p.group_norm(y, 32, (2, 128, 16, 16))), 128, 128)
    return y + p.conv(x, 64, 128, 1)


@block("latent diffusion")
def attention_of_pixels(p: Parts) -> Any:
    x = p.image(1, 64, 16, 16)
    y = p.rows(p.group_norm(x, 32, (1, 64, 16, 16)), 1, 256, 64)
    return x + p.unrows(p.attention(y, 1, 256, 1, 64, bias=True), 1, 16, 64)


@block("vision transformer")
def patch_embedding(p: Parts) -> Any:
    y = p.conv(p.image(2, 3, 64, 64), 3, 192, 16, stride=16, padding=0)
    return p.rows(y, 2, 16, 192) + p.weight(1, 16, 192, kind="positions")


@block("WaveNet")
def gated_convolution(p: Parts) -> Any:
    """Dilated; tanh of one times sigmoid of another, and both ways on."""
    x = p.image(2, 32, 1, 64)
    a, b = (p.conv(x, 32, 32, (1, 3), dilation=2) for _ in "ab")
    y = p.apply("tanh", a) * p.apply("sigmoid", b)
    return {"skip": p.conv(y, 32, 64, 1), "y": p.conv(y, 32, 32, 1) + x}


@block("YOLO")
def mish_convolution(p: Parts) -> Any:
    return p.apply("mish", p.conv(p.image(2, 32, 16, 16), 32, 32))


@block("YOLO")
def partial_bottleneck(p: Parts) -> Any:
    """Half of the channels go through; the other half stands beside the result."""
    x = p.conv_norm(p.image(1, 64, 16, 16), 64, 64, 1, "silu")
    a, b = p.chunk(x, 1, 32, 2)
    y = p.conv_norm(p.conv_norm(b, 32, 32, 3, "silu"), 32, 32, 3, "silu") + b
    return p.conv_norm(p.cat([a, b, y], 1), 96, 64, 1, "silu")


@block("YOLO")
def pyramid_of_pooling(p: Parts) -> Any:
    every = [p.conv_norm(p.image(1, 64, 16, 16), 64, 32, 1, "silu")]
    for _ in range(3):
        every.append(p.pool(every[-1], "max", 5, stride=1, padding=2))
    return p.conv_norm(p.cat(every, 1), 128, 64, 1, "silu")


@block("DeepLab")
def dilated_convolutions(p: Parts) -> Any:
    x = p.image(1, 64, 16, 16)
    every = [p.conv_norm(x, 64, 32, 1, "relu")]
    every += [p.conv_norm(x, 64, 32, 3, "relu", dilation=d) for d in (2, 4)]
    return p.conv_norm(p.cat(every, 1), 96, 64, 1, "relu")


@block("feature pyramid")
def lateral_and_upsampled(p: Parts) -> Any:
    fine, coarse = p.image(1, 64, 16, 16), p.image(1, 32, 8, 8, name="coarse")
    return p.conv(p.conv(fine, 64, 32, 1) + p.upsample(coarse), 32, 32)


@block("super-resolution")
def residual_convolutions(p: Parts) -> Any:
    """EDSR's."""
    x = p.image(1, 64, 24, 24)
    return p.conv(p.apply("relu", p.conv(x, 64, 64)), 64, 64) * 0.1 + x


@block("super-resolution")
def pixel_shuffle(p: Parts) -> Any:
    """Channels become pixels."""
    y = p.conv(p.image(1, 32, 12, 12), 32, 48)
    y = p.transpose(p.reshape(y, (1, 12, 2, 2, 12, 12)), (0, 1, 4, 2, 5, 3))
    return p.reshape(y, (1, 12, 24, 24))


@block("adversarial network")
def discriminator(p: Parts) -> Any:
    """DCGAN's."""
    y = p.apply("leaky_relu", p.conv(p.image(2, 3, 32, 32), 3, 64, 4, stride=2, padding=1))
    return p.conv_norm(y, 64, 128, 4, "leaky_relu", stride=2, padding=1)


@block("adversarial network")
def generator(p: Parts) -> Any:
    y = p.conv_transposed(p.image(2, 128, 8, 8), 4, 128, (2, 64, 16, 16))
    y = p.apply("relu", y * p.channels(64, "gain") + p.channels(64, "bias"))
    return p.apply("tanh", p.conv_transposed(y, 4, 64, (2, 8, 32, 32)))


@block("style transfer")
def instance_norm(p: Parts) -> Any:
    """As a group norm with a group for each channel."""
    y = p.conv(p.image(1, 32, 16, 16), 32, 32)
    return p.apply("relu", p.group_norm(y, 32, (1, 32, 16, 16)))


@block("SegFormer")
def perceptron_with_convolution(p: Parts) -> Any:
    x = p.input(1, 256, 64)
    y = p.unrows(p.linear(p.layer_norm(x, 64), 64, 256, bias=True), 1, 16, 256)
    y = p.rows(p.conv(y, 256, 256, groups=256), 1, 256, 256)
    return x + p.linear(p.apply("gelu", y), 256, 64, bias=True)

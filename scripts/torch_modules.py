"""The torch modules of the fixtures: small, and each with one thing that exporters write in their own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Spec:
    """A module, the shape of its input (a list for several inputs) and its number type."""

    make: Callable[[], nn.Module]
    shape: Shape | list[Shape]
    double: bool = False
    dtype: torch.dtype | None = None


class Call(nn.Module):
    """A function of the input, followed by layers."""

    def __init__(self, function: Callable[..., object], *layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor, other: Tensor | None = None) -> object:
        """layers(function(x)), or of both inputs."""
        y = self.function(x) if other is None else self.function(x, other)
        return self.layers(y) if len(self.layers) else y


class Residual(nn.Module):
    """relu(inner(x) + shortcut(x))."""

    def __init__(self, inner: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.shortcut = shortcut

    def forward(self, x: Tensor) -> Tensor:
        """The block's output."""
        return torch.relu(self.inner(x) + self.shortcut(x))


class Normalised(nn.Module):
    """(x - mean) / std before the layers."""

    def __init__(self, *layers: nn.Module, shape: Shape) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.register_buffer("mean", torch.randn(shape))
        self.register_buffer("std", torch.rand(shape) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        """The layers at the normalised point."""
        return self.layers((x - self.mean) / self.std)


class LeftWeight(nn.Module):
    """As the collision-avoidance networks are stored: Sub, Flatten, then W @ x with the weight on the left."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.randn(5))
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(6, 5)), nn.Parameter(torch.randn(4, 6))])
        self.biases = nn.ParameterList([nn.Parameter(torch.randn(6)), nn.Parameter(torch.randn(4))])

    def forward(self, x: Tensor) -> Tensor:
        """Two layers on a vector."""
        y = torch.flatten(x - self.mean)
        y = torch.relu(torch.matmul(self.weights[0], y) + self.biases[0])
        return torch.matmul(self.weights[1], y) + self.biases[1]


class Lyapunov(nn.Module):
    """V(x) = |net(x) - net(0)| + x' P x, a candidate for stability proofs."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
        self.root = nn.Parameter(torch.randn(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        """One number per point."""
        p = 0.1 * torch.eye(3, dtype=x.dtype) + self.root.T @ self.root
        quadratic = torch.sum(x * (x @ p), dim=1, keepdim=True)
        return torch.abs(self.net(x) - self.net(torch.zeros_like(x))) + quadratic


def _mlp(n: int, m: int, activation: nn.Module, **options: bool) -> nn.Module:
    return nn.Sequential(nn.Linear(n, 6, **options), activation, nn.Linear(6, m, **options))


def _head(channels: int, m: int = 3) -> list[nn.Module]:
    return [nn.ReLU(), nn.Flatten(), nn.Linear(channels, m)]


def _halves_by_chunk(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=1)
    return torch.cat([b, torch.relu(a)], dim=1)


def _parts_by_split(x: Tensor) -> Tensor:
    a, b, c = torch.split(x, [1, 3, 2], dim=1)
    return torch.cat([torch.relu(b), a, c], dim=1)


def _coupling(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=1)
    return torch.cat([a, b + functional.leaky_relu(a, 0.25)], dim=1)


def _slices(x: Tensor) -> Tensor:
    return torch.cat([x[:, 1:4], x[:, ::2], x[:, -2:], x[:, 3:4]], dim=1)


def _strange_rows(x: Tensor) -> Tensor:
    return torch.stack([x[:, 0], x.sum(dim=1), x.mean(dim=1), x.max(dim=1).values], dim=1)


MLPS = {
    "mlp": Spec(lambda: _mlp(3, 2, nn.ReLU()), (1, 3)),
    "mlp_dynamic": Spec(lambda: _mlp(3, 2, nn.ReLU()), (2, 3)),
    "mlp_double": Spec(lambda: _mlp(3, 2, nn.ReLU()), (1, 3), double=True),
    "mlp_no_bias": Spec(lambda: _mlp(3, 2, nn.ReLU(), bias=False), (1, 3)),
    "mlp_1d": Spec(lambda: _mlp(5, 2, nn.ReLU()), (5,)),
    "mlp_3d": Spec(lambda: _mlp(4, 2, nn.ReLU()), (1, 3, 4)),
    "mlp_dropout": Spec(lambda: nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.5), nn.ReLU(), nn.Linear(6, 2)), (1, 3)),
    "mlp_batch_norm": Spec(
        lambda: nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.BatchNorm1d(6), nn.Linear(6, 2)), (1, 3)
    ),
    "batch_norm_first": Spec(lambda: nn.Sequential(nn.BatchNorm1d(3), *_mlp(3, 2, nn.ReLU())), (2, 3)),
    "mlp_flatten": Spec(lambda: nn.Sequential(nn.Flatten(), *_mlp(9, 2, nn.ReLU())), (1, 1, 3, 3)),
    "mlp_normalised": Spec(lambda: Normalised(*_mlp(4, 2, nn.ReLU()), shape=(4,)), (1, 4)),
    "mlp_residual": Spec(
        lambda: nn.Sequential(nn.Linear(3, 4), Residual(_mlp(4, 4, nn.ReLU()), nn.Identity()), nn.Linear(4, 2)), (1, 3)
    ),
    "left_weight": Spec(LeftWeight, (1, 1, 1, 5)),
    "lyapunov": Spec(Lyapunov, (1, 3)),
    "lyapunov_dynamic": Spec(Lyapunov, (2, 3)),
}
CONVOLUTIONS = {
    "conv": Spec(lambda: nn.Sequential(nn.Conv2d(2, 3, 3), *_head(27)), (1, 2, 5, 5)),
    "conv_dynamic": Spec(lambda: nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), *_head(48)), (2, 2, 4, 4)),
    "conv_groups": Spec(
        lambda: nn.Sequential(nn.Conv2d(4, 6, 3, groups=2, stride=2, padding=1, bias=False), *_head(54)), (1, 4, 5, 5)
    ),
    "conv_depthwise": Spec(
        lambda: nn.Sequential(nn.Conv2d(3, 6, 2, groups=3), nn.ReLU(), nn.Conv2d(6, 2, 1), nn.Flatten()), (1, 3, 4, 4)
    ),
    "conv_dilated": Spec(
        lambda: nn.Sequential(nn.Conv2d(2, 3, (3, 2), dilation=(2, 1), padding=(1, 2), stride=(1, 2)), *_head(60)),
        (1, 2, 6, 6),
    ),
    "conv_same": Spec(lambda: nn.Sequential(nn.Conv2d(1, 2, 4, padding="same"), *_head(50)), (1, 1, 5, 5)),
    "conv_padded": Spec(
        lambda: nn.Sequential(nn.ZeroPad2d((1, 2, 0, 1)), nn.Conv2d(2, 2, 3), *_head(36)), (1, 2, 4, 5)
    ),
    "conv_1d": Spec(lambda: nn.Sequential(nn.Conv1d(2, 3, 3, stride=2, padding=1), *_head(12)), (1, 2, 7)),
    "conv_3d": Spec(lambda: nn.Sequential(nn.Conv3d(1, 2, 2), *_head(54)), (1, 1, 4, 4, 4)),
    "conv_batch_norm": Spec(
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.BatchNorm2d(3), nn.Flatten()),
        (1, 2, 4, 4),
    ),
    "conv_unbatched": Spec(lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(0)), (2, 4, 4)),
    "conv_normalised": Spec(lambda: Normalised(nn.Conv2d(3, 2, 2), *_head(18), shape=(1, 3, 1, 1)), (1, 3, 4, 4)),
    "resnet": Spec(
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, 3, padding=1),
            nn.ReLU(),
            Residual(
                nn.Sequential(
                    nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)
                ),
                nn.Conv2d(3, 4, 1, stride=2),
            ),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(4, 3),
        ),
        (1, 2, 5, 5),
    ),
}
POOLS = {
    "max_pool": Spec(lambda: nn.Sequential(nn.MaxPool2d(3, stride=2, padding=1), nn.Flatten()), (1, 2, 5, 5)),
    "max_pool_dilated": Spec(lambda: nn.Sequential(nn.MaxPool2d(2, stride=1, dilation=2), nn.Flatten()), (1, 2, 4, 5)),
    "max_pool_ceil": Spec(lambda: nn.Sequential(nn.MaxPool2d(2, ceil_mode=True), nn.Flatten()), (1, 1, 5, 5)),
    "max_pool_1d": Spec(lambda: nn.Sequential(nn.MaxPool1d(2), nn.Flatten()), (1, 2, 6)),
    "average_pool": Spec(lambda: nn.Sequential(nn.AvgPool2d(3, stride=2, padding=1), nn.Flatten()), (1, 2, 5, 5)),
    "average_pool_inside": Spec(
        lambda: nn.Sequential(nn.AvgPool2d((2, 3), padding=1, count_include_pad=False), nn.Flatten()), (1, 2, 5, 5)
    ),
    "average_pool_ceil": Spec(lambda: nn.Sequential(nn.AvgPool2d(2, ceil_mode=True), nn.Flatten()), (1, 1, 5, 5)),
    "adaptive_average": Spec(lambda: nn.Sequential(nn.AdaptiveAvgPool2d((2, 3)), nn.Flatten()), (1, 2, 4, 6)),
    "adaptive_max": Spec(lambda: nn.Sequential(nn.AdaptiveMaxPool2d(2), nn.Flatten()), (1, 2, 4, 4)),
    "global_average": Spec(lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)), (1, 3, 4, 4)),
    "mean_over_pixels": Spec(lambda: Call(lambda x: x.mean(dim=(2, 3)), nn.Linear(3, 2)), (1, 3, 4, 4)),
}
PIECEWISE = {
    "leaky_relu": Spec(lambda: _mlp(3, 2, nn.LeakyReLU(0.1)), (1, 3)),
    "prelu": Spec(lambda: _mlp(3, 2, nn.PReLU(init=0.3)), (1, 3)),
    "prelu_channels": Spec(lambda: nn.Sequential(nn.Conv2d(2, 3, 2), nn.PReLU(3), nn.Flatten()), (1, 2, 3, 3)),
    "hardtanh": Spec(lambda: _mlp(3, 2, nn.Hardtanh(-0.5, 0.75)), (1, 3)),
    "relu6": Spec(lambda: _mlp(3, 2, nn.ReLU6()), (1, 3)),
    "hardsigmoid": Spec(lambda: _mlp(3, 2, nn.Hardsigmoid()), (1, 3)),
    "threshold_at_zero": Spec(lambda: _mlp(3, 2, nn.Threshold(0.0, 0.0)), (1, 3)),
    "clamp_below": Spec(lambda: Call(lambda x: torch.clamp(x, min=-0.5), nn.Linear(3, 2)), (1, 3)),
    "where_leaky": Spec(lambda: Call(lambda x: torch.where(x > 0, x, 0.125 * x), nn.Linear(3, 2)), (1, 3)),
    "where_relu": Spec(lambda: Call(lambda x: torch.where(x < 0, torch.zeros_like(x), x), nn.Linear(3, 2)), (1, 3)),
    "absolute": Spec(lambda: Call(torch.abs, nn.Linear(3, 2)), (1, 3)),
    "max_min": Spec(
        lambda: Call(lambda x: torch.maximum(x, 0.5 * x.flip(1)) - torch.minimum(x, torch.ones_like(x))), (1, 3)
    ),
}
SHAPES = {
    "chunk": Spec(lambda: Call(_halves_by_chunk, nn.Linear(6, 2)), (1, 6)),
    "chunk_dynamic": Spec(lambda: Call(_halves_by_chunk, nn.Linear(6, 2)), (2, 6)),
    "split": Spec(lambda: Call(_parts_by_split, nn.Linear(6, 2)), (1, 6)),
    "coupling": Spec(lambda: Call(_coupling, nn.Linear(6, 6), Call(_coupling)), (1, 6)),
    "gather": Spec(lambda: Call(lambda x: x[:, [2, 0, 2]], nn.Linear(3, 2)), (1, 4)),
    "slices": Spec(lambda: Call(_slices, nn.ReLU()), (1, 6)),
    "stack_rows": Spec(lambda: Call(_strange_rows, nn.Linear(4, 2)), (1, 3)),
    "permute": Spec(lambda: Call(lambda x: x.permute(0, 2, 3, 1).reshape(1, -1), nn.Linear(12, 2)), (1, 3, 2, 2)),
    "squeeze": Spec(lambda: Call(lambda x: x.unsqueeze(1).squeeze(0).transpose(0, 1), nn.Linear(1, 2)), (1, 3)),
    "view_dynamic": Spec(lambda: Call(lambda x: x.view(x.shape[0], -1), nn.Linear(6, 2)), (2, 2, 3)),
    "scale_shift": Spec(lambda: Call(lambda x: -(2.0 * x - 1.0) / 3.0 + x, nn.Linear(3, 2)), (1, 3)),
}
SMOOTH = {
    "gelu": Spec(lambda: _mlp(3, 2, nn.GELU()), (1, 3)),
    "gelu_tanh": Spec(lambda: _mlp(3, 2, nn.GELU(approximate="tanh")), (1, 3)),
    "sigmoid": Spec(lambda: _mlp(3, 2, nn.Sigmoid()), (1, 3)),
    "tanh": Spec(lambda: _mlp(3, 2, nn.Tanh()), (1, 3)),
    "elu": Spec(lambda: _mlp(3, 2, nn.ELU(0.5)), (1, 3)),
    "softplus": Spec(lambda: _mlp(3, 2, nn.Softplus()), (1, 3)),
    "hardswish": Spec(lambda: _mlp(3, 2, nn.Hardswish()), (1, 3)),
    "silu": Spec(lambda: _mlp(3, 2, nn.SiLU()), (1, 3)),
    "layer_norm": Spec(lambda: nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2)), (1, 3)),
    "gated": Spec(lambda: Call(nn.GLU(dim=1), nn.Linear(2, 2)), (1, 4)),
    "product": Spec(lambda: Call(lambda x: x[:, :2] * x[:, 2:], nn.Linear(2, 2)), (1, 4)),
}
ACCEPTED: dict[str, Spec] = {**MLPS, **CONVOLUTIONS, **POOLS, **PIECEWISE, **SHAPES, **SMOOTH}
DYNAMIC = {name for name in ACCEPTED if name.endswith("_dynamic")} | {"batch_norm_first"}

REFUSED: dict[str, Spec] = {
    "refused_argsort": Spec(lambda: Call(lambda x: torch.sort(x, dim=1).values, nn.Linear(3, 2)), (1, 3)),
    "refused_two_inputs": Spec(lambda: Call(lambda x, y: x + y, nn.Linear(3, 2)), [(1, 3), (1, 3)]),
    "refused_two_outputs": Spec(lambda: Call(lambda x: (x + 1, torch.relu(x))), (1, 3)),
    "refused_embedding": Spec(lambda: nn.Sequential(nn.Embedding(4, 3), nn.Linear(3, 2)), (1, 2), dtype=torch.int64),
}

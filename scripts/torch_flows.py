"""Invertible networks in torch, as their papers and the packages FrEIA and normflows write them, and spoilt twins.

A twin differs in one place: a scale that can be 0, an index that comes twice, a singular 1x1 convolution, a residual
branch of norm 1.0001, a mask that lets an input through.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_modules import Spec


def mlp(inputs: int, outputs: int, width: int = 8) -> nn.Module:
    """What couplings have inside."""
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))


def convs(inputs: int, outputs: int, width: int = 8) -> nn.Module:
    """… on images."""
    return nn.Sequential(
        *(nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU()),
        nn.Conv2d(width, outputs, 3, padding=1),
    )


class Nice(nn.Module):
    """NICE: additive couplings of halves that change places, and a diagonal scale."""

    def __init__(self, n: int, layers: int, *, spoilt: bool = False) -> None:
        super().__init__()
        self.inner = nn.ModuleList(mlp(n // 2, n - n // 2) for _ in range(layers))
        self.log_scale = nn.Parameter(0.1 * torch.randn(n))
        order = torch.arange(n).flip(0)
        if spoilt:
            order[0] = order[1]
        self.register_buffer("order", order)
        self.half = n // 2

    def forward(self, x: Tensor) -> Tensor:
        """Layer by layer."""
        for inner in self.inner:
            a, b = x[:, : self.half], x[:, self.half :]
            x = torch.cat([a, b + inner(a)], dim=1)[:, self.order]
        return x * torch.exp(self.log_scale)


class RealNvp(nn.Module):
    """RealNVP with masks: y = m x + (1 - m) (x exp(s(m x)) + t(m x))."""

    def __init__(self, masks: Tensor, inner: Callable[[], nn.Module], *, spoilt: bool = False) -> None:
        super().__init__()
        self.register_buffer("masks", masks)
        self.scales, self.shifts = (nn.ModuleList(inner() for _ in masks) for _ in range(2))
        self.spoilt = spoilt

    def forward(self, x: Tensor) -> Tensor:
        """Layer by layer."""
        for mask, scale, shift in zip(self.masks, self.scales, self.shifts, strict=True):
            kept = mask * x
            s = torch.tanh(scale(kept))
            x = kept + (1 - mask) * (x * (s if self.spoilt else torch.exp(s)) + shift(kept))
        return x


class FreiaCoupling(nn.Module):
    """FrEIA's GLOWCouplingBlock: both halves by turns, log scales clamped by tanh, then PermuteRandom."""

    def __init__(self, n: int, *, spoilt: bool = False) -> None:
        super().__init__()
        self.first, self.second = n // 2, n - n // 2
        self.inner = nn.ModuleList([mlp(self.second, 2 * self.first), mlp(self.first, 2 * self.second)])
        order = torch.randperm(n)
        if spoilt:
            order[1] = order[0]
        self.register_buffer("order", order)

    def forward(self, x: Tensor) -> Tensor:
        """One block."""
        x1, x2 = torch.split(x, [self.first, self.second], dim=1)
        y1 = self.coupled(x1, self.inner[0](x2))
        y2 = self.coupled(x2, self.inner[1](y1))
        return torch.cat((y1, y2), 1)[:, self.order]

    @staticmethod
    def coupled(x: Tensor, a: Tensor, clamp: float = 2.0) -> Tensor:
        """Scale and shift from the first and the second half of a."""
        n = x.shape[1]
        return x * torch.exp(clamp * torch.tanh(a[:, :n])) + a[:, n:]


class FreiaAllInOne(nn.Module):
    """FrEIA's AllInOneBlock: coupling, a positive global scale and shift, a soft permutation."""

    def __init__(self, n: int, *, spoilt: bool = False) -> None:
        super().__init__()
        self.first, self.second = n - n // 2, n // 2
        self.inner = mlp(self.first, 2 * self.second)
        self.global_scale, self.global_offset = nn.Parameter(torch.randn(1, n)), nn.Parameter(torch.randn(1, n))
        weight = torch.linalg.qr(torch.randn(n, n))[0]
        if spoilt:
            weight[0] = weight[1]
        self.register_buffer("w_perm", weight)

    def forward(self, x: Tensor) -> Tensor:
        """One block."""
        x1, x2 = torch.split(x, [self.first, self.second], dim=1)
        a = self.inner(x1) * 0.1
        s = 2.0 * torch.tanh(a[:, : self.second])
        x = torch.cat((x1, x2 * torch.exp(s) + a[:, self.second :]), 1)
        scale = 0.2 * functional.softplus(self.global_scale, beta=0.5)
        return functional.linear(x * scale + self.global_offset, self.w_perm)


class ActNorm(nn.Module):
    """A scale and a shift for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.s, self.t = (nn.Parameter(0.3 * torch.randn(1, channels, 1, 1)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """x exp(s) + t."""
        return x * torch.exp(self.s) + self.t


class Mixing(nn.Module):
    """An invertible 1x1 convolution by its factors P L U."""

    def __init__(self, channels: int, *, spoilt: bool = False) -> None:
        super().__init__()
        p, lower, upper = torch.linalg.lu(torch.linalg.qr(torch.randn(channels, channels))[0])
        diagonal = upper.diagonal().clone()
        if spoilt:
            diagonal[0] = 0.0
        self.register_buffer("p", p)
        self.lower, self.upper = nn.Parameter(lower.tril(-1)), nn.Parameter(upper.triu(1))
        self.diagonal = nn.Parameter(diagonal)

    def forward(self, x: Tensor) -> Tensor:
        """By a convolution."""
        n = len(self.diagonal)
        lower = torch.tril(self.lower, -1) + torch.eye(n)
        weight = self.p @ lower @ (torch.triu(self.upper, 1) + torch.eye(n) * self.diagonal)
        return functional.conv2d(x, weight.view(n, n, 1, 1))


class GlowStep(nn.Module):
    """ActNorm, 1x1 convolution, affine coupling with the scale sigmoid(s + 2), in front or as a divisor."""

    def __init__(self, channels: int, *, width: int = 8, divided: bool = False, spoilt: bool = False) -> None:
        super().__init__()
        self.norm, self.mixing = ActNorm(channels), Mixing(channels, spoilt=spoilt)
        self.inner, self.divided = convs(channels // 2, channels, width), divided

    def forward(self, x: Tensor) -> Tensor:
        """One step."""
        x = self.mixing(self.norm(x))
        z1, z2 = x.chunk(2, dim=1)
        a = self.inner(z1)
        shift, scale = a[:, 0::2], torch.sigmoid(a[:, 1::2] + 2)
        z2 = z2 / scale + shift if self.divided else (z2 + shift) * scale
        return torch.cat([z1, z2], dim=1)


def squeeze(x: Tensor) -> Tensor:
    """Space to channels, by views."""
    b, c, h, w = x.shape
    return x.view(b, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(b, 4 * c, h // 2, w // 2)


class Glow(nn.Module):
    """Levels of a squeeze and steps; between levels half of the channels leave."""

    def __init__(self, channels: int, levels: int, steps: int, **options: bool | int) -> None:
        super().__init__()
        self.levels = nn.ModuleList()
        for level in range(levels):
            channels *= 4
            self.levels.append(nn.Sequential(*(GlowStep(channels, **options) for _ in range(steps))))
            channels //= 2 if level + 1 < levels else 1

    def forward(self, x: Tensor) -> Tensor:
        """All that left, flat."""
        left = []
        for k, level in enumerate(self.levels):
            x = level(squeeze(x))
            if k + 1 < len(self.levels):
                x, out = x.chunk(2, dim=1)
                left.append(out.flatten(1))
        return torch.cat([*left, x.flatten(1)], dim=1)


class ResidualFlow(nn.Module):
    """x + g(x), again and again; each layer of g is scaled to a norm by power iteration, as in i-ResNets."""

    def __init__(self, branches: list[nn.Sequential], shape: tuple[int, ...], norm: float) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)
        for branch in branches:
            x = torch.randn(shape)
            for layer in branch:
                if isinstance(layer, nn.Conv2d | nn.Linear):
                    layer.weight.data *= norm / operator_norm(layer, x)
                x = layer(x)

    def forward(self, x: Tensor) -> Tensor:
        """Block by block."""
        for branch in self.branches:
            x = x + branch(x)
        return x


def operator_norm(layer: nn.Module, x: Tensor, steps: int = 200) -> float:
    """About the spectral norm of a linear layer on inputs like x."""
    size = 0.0
    for _ in range(steps):
        x = (x / x.norm()).detach().requires_grad_()
        y = layer(x) - layer(torch.zeros_like(x))
        size = float(y.norm())
        (x,) = torch.autograd.grad(y, x, y.detach())
    return size


class LipSwish(nn.Module):
    """x sigmoid(x) / 1.1, whose slope is below 1."""

    def forward(self, x: Tensor) -> Tensor:
        """Entry by entry."""
        return functional.silu(x) / 1.1


def dense_branch(n: int, act: Callable[[], nn.Module], width: int = 16) -> nn.Sequential:
    """Two layers."""
    return nn.Sequential(nn.Linear(n, width), act(), nn.Linear(width, n))


def conv_branch(channels: int, act: Callable[[], nn.Module], width: int) -> nn.Sequential:
    """Three layers, as in i-ResNets."""
    return nn.Sequential(
        *(act(), nn.Conv2d(channels, width, 3, padding=1), act(), nn.Conv2d(width, width, 1)),
        *(act(), nn.Conv2d(width, channels, 3, padding=1)),
    )


class SpectralNorm(nn.Module):
    """x + 0.9 g(x) with torch's own spectral normalisation of dense layers."""

    def __init__(self, n: int) -> None:
        super().__init__()
        parametrized = nn.utils.parametrizations.spectral_norm
        layers = [parametrized(nn.Linear(n, 12), n_power_iterations=50), nn.ELU()]
        self.branch = nn.Sequential(*layers, parametrized(nn.Linear(12, n), n_power_iterations=50))

    def forward(self, x: Tensor) -> Tensor:
        """One block."""
        return x + 0.9 * self.branch(x)


class RevNet(nn.Module):
    """y1 = x1 + F(x2), y2 = x2 + G(y1); spoilt, F reads x1."""

    def __init__(self, channels: int, blocks: int, *, spoilt: bool = False) -> None:
        super().__init__()
        half = channels // 2
        self.blocks = nn.ModuleList(
            nn.ModuleList(nn.Sequential(nn.BatchNorm2d(half), nn.ReLU(), convs(half, half, 4)) for _ in range(2))
            for _ in range(blocks)
        )
        self.spoilt = spoilt
        if spoilt:  # far from a contraction, which would be injective all the same
            for f, _ in self.blocks:
                f[2][4].weight.data *= 20

    def forward(self, x: Tensor) -> Tensor:
        """Block by block."""
        x1, x2 = torch.chunk(x, 2, dim=1)
        for f, g in self.blocks:
            x1 = x1 + f(x1 if self.spoilt else x2)
            x2 = x2 + g(x1)
        return torch.cat((x1, x2), dim=1)


class MaskedLinear(nn.Linear):
    """A dense layer with a mask."""

    def __init__(self, mask: Tensor) -> None:
        super().__init__(mask.shape[1], mask.shape[0])
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        """With the weights that the mask leaves."""
        return functional.linear(x, self.mask * self.weight, self.bias)


class Made(nn.Module):
    """u = (x - m(x)) exp(-a(x)), m_i and a_i functions of the inputs before i; spoilt, of i as well."""

    def __init__(self, n: int, width: int = 12, *, spoilt: bool = False) -> None:
        super().__init__()
        degree, hidden = torch.arange(n), torch.arange(width) % max(1, n - 1)
        last = degree + 1 if spoilt else degree
        self.layers = nn.Sequential(
            *(MaskedLinear((hidden[:, None] >= degree).float()), nn.ReLU()),
            *(MaskedLinear((hidden[:, None] >= hidden).float()), nn.ReLU()),
            MaskedLinear((last[:, None] > hidden).float().repeat(2, 1)),
        )

    def forward(self, x: Tensor) -> Tensor:
        """One pass."""
        m, a = self.layers(x).chunk(2, dim=1)
        return (x - m) * torch.exp(-a)


class Flip(nn.Module):
    """All entries in the other order."""

    def forward(self, x: Tensor) -> Tensor:
        """By torch.flip."""
        return torch.flip(x, [1])


def checkerboard(size: int) -> Tensor:
    """Two masks (2, 1, 1, size, size) that change places."""
    mask = ((torch.arange(size)[:, None] + torch.arange(size)) % 2).float()[None, None]
    return torch.stack([mask, 1 - mask])


def halves(n: int) -> Tensor:
    """Masks of every other entry, by turns, three of them."""
    mask = (torch.arange(n) % 2).float()
    return torch.stack([mask, 1 - mask, mask])


def _iresnet_dense(n: int, norm: float, act: Callable[[], nn.Module] = nn.ELU, blocks: int = 3) -> nn.Module:
    return ResidualFlow([dense_branch(n, act) for _ in range(blocks)], (1, n), norm)


def _iresnet_images(norm: float, width: int = 8, blocks: int = 3) -> nn.Module:
    return ResidualFlow([conv_branch(3, nn.ELU, width) for _ in range(blocks)], (1, 3, 32, 32), norm)


INJECTIVE = {
    "nice_2": Spec(lambda: Nice(2, 2), (1, 2)),
    "nice_16": Spec(lambda: Nice(16, 4), (1, 16)),
    "realnvp_6": Spec(lambda: RealNvp(halves(6), lambda: mlp(6, 6)), (1, 6)),
    "realnvp_checkerboard": Spec(lambda: RealNvp(checkerboard(4), lambda: convs(1, 1, 4)), (1, 1, 4, 4)),
    "freia_coupling": Spec(lambda: nn.Sequential(FreiaCoupling(7), FreiaCoupling(7)), (1, 7)),
    "freia_all_in_one": Spec(lambda: nn.Sequential(FreiaAllInOne(6), FreiaAllInOne(6)), (1, 6)),
    "glow_64": Spec(lambda: Glow(1, 2, 1, divided=True), (1, 1, 8, 8)),
    "glow_3072": Spec(lambda: Glow(3, 2, 1), (1, 3, 32, 32)),
    "iresnet_2": Spec(lambda: _iresnet_dense(2, 0.97), (1, 2)),
    "iresnet_100": Spec(lambda: _iresnet_dense(100, 0.97, nn.Softplus, 2), (1, 100)),
    "iresnet_lipswish": Spec(lambda: _iresnet_dense(6, 0.97, LipSwish), (1, 6)),
    "iresnet_leaky": Spec(lambda: _iresnet_dense(4, 0.97, nn.LeakyReLU), (1, 4)),
    "iresnet_spectral_norm": Spec(lambda: SpectralNorm(5), (1, 5)),
    "iresnet_3072": Spec(lambda: _iresnet_images(0.97), (1, 3, 32, 32)),
    "revnet": Spec(lambda: RevNet(4, 2), (1, 4, 4, 4)),
    "made_5": Spec(lambda: Made(5), (1, 5)),
    "maf_4": Spec(lambda: nn.Sequential(Made(4), Flip(), Made(4), nn.BatchNorm1d(4)), (1, 4)),
}
SPOILT = {
    "nice_16": Spec(lambda: Nice(16, 4, spoilt=True), (1, 16)),
    "realnvp_6": Spec(lambda: RealNvp(halves(6), lambda: mlp(6, 6), spoilt=True), (1, 6)),
    "freia_coupling": Spec(lambda: nn.Sequential(FreiaCoupling(7, spoilt=True), FreiaCoupling(7)), (1, 7)),
    "freia_all_in_one": Spec(lambda: nn.Sequential(FreiaAllInOne(6, spoilt=True), FreiaAllInOne(6)), (1, 6)),
    "glow_64": Spec(lambda: Glow(1, 2, 1, spoilt=True), (1, 1, 8, 8)),
    "iresnet_2": Spec(lambda: _iresnet_dense(2, 1.00005), (1, 2)),
    "iresnet_3072": Spec(lambda: _iresnet_images(1.0001 ** (1 / 3)), (1, 3, 32, 32)),
    "revnet": Spec(lambda: RevNet(4, 2, spoilt=True), (1, 4, 4, 4)),
    "made_5": Spec(lambda: Made(5, spoilt=True), (1, 5)),
}
FLOWS: dict[str, Spec] = {**INJECTIVE, **{f"spoilt_{name}": spec for name, spec in SPOILT.items()}}
NOT_IN_SCRIPT = {"iresnet_spectral_norm"}
"""TorchScript's exporter has no vdot."""
AT_SIZE: dict[str, Spec] = {
    "glow_3072_wide": Spec(lambda: Glow(3, 3, 4, width=128), (1, 3, 32, 32)),
    "iresnet_3072_wide": Spec(lambda: _iresnet_images(0.97, 64, 7), (1, 3, 32, 32)),
}
"""Too large for fixtures: written to the folder that the script is given."""

"""More invertible networks in torch, written without a paper's code beside them, and spoilt twins.

A twin differs in one place: a gain of 0 after a batch norm, a mask that lets an input through, steps that are too long,
a 0 on a diagonal, a conditioner that reads its own half.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_flows import checkerboard, mlp
from torch_modules import Spec


class NormedRevNet(nn.Module):
    """Reversible blocks whose branches and whose outputs are normed by batch norms."""

    def __init__(self, channels: int, blocks: int, *, spoilt: bool = False) -> None:
        super().__init__()
        half = channels // 2
        self.first, self.second = (nn.ModuleList(self.branch(half) for _ in range(blocks)) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(blocks))
        for norm in self.norms:
            nn.init.uniform_(norm.weight, 0.5, 1.5)
        gains = torch.ones(blocks, channels, 1, 1)
        gains[0, 1] = 0.0 if spoilt else -2.0
        self.register_buffer("gains", gains)

    @staticmethod
    def branch(width: int) -> nn.Module:
        """What is added to one half."""
        return nn.Sequential(
            *(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1, bias=False)),
            *(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Block by block."""
        for first, second, norm, gain in zip(self.first, self.second, self.norms, self.gains, strict=True):
            a, b = torch.chunk(x, 2, dim=1)
            a = a + first(b)
            b = b + second(a)
            x = norm(torch.cat([b, a], dim=1)) * gain
        return x


class FoldedMade(nn.Module):
    """An autoregressive network whose masks are in its weights: y = x (1 + tanh(s)) + t, then the order is reversed."""

    def __init__(self, n: int, *, spoilt: bool = False) -> None:
        super().__init__()
        degrees = torch.arange(n)
        hidden = torch.arange(3 * n) % max(1, n - 1)
        self.inner, self.scale, self.shift = nn.Linear(n, 3 * n), nn.Linear(3 * n, n), nn.Linear(3 * n, n)
        below = (degrees[:, None] > hidden[None, :]).float()
        with torch.no_grad():
            self.inner.weight *= (hidden[:, None] >= degrees[None, :]).float()
            self.scale.weight *= below
            self.shift.weight *= below
            if spoilt:
                self.scale.weight[1, hidden == 1] = 0.5

    def forward(self, x: Tensor) -> Tensor:
        """One layer."""
        h = functional.elu(self.inner(x))
        return torch.flip(x * (1 + torch.tanh(self.scale(h))) + self.shift(h), dims=(1,))


class EulerFlow(nn.Module):
    """Explicit Euler steps for x' = A tanh(B x + b), the same weights in each step."""

    def __init__(self, n: int, steps: int, norm: float) -> None:
        super().__init__()
        self.inner, self.outer, self.steps, self.h = nn.Linear(n, 2 * n), nn.Linear(2 * n, n), steps, 1.0 / steps
        with torch.no_grad():
            for layer in (self.inner, self.outer):
                layer.weight *= (norm * steps) ** 0.5 / torch.linalg.matrix_norm(layer.weight.double(), 2)

    def forward(self, x: Tensor) -> Tensor:
        """Step by step."""
        for _ in range(self.steps):
            x = x + self.h * self.outer(torch.tanh(self.inner(x)))
        return x


class TriangularMixing(nn.Module):
    """A 1x1 convolution as a permutation and two triangular ones, diagonals sign(d) exp(log|d|)."""

    def __init__(self, channels: int, *, spoilt: bool = False) -> None:
        super().__init__()
        self.lower, self.upper = (nn.Parameter(0.5 * torch.randn(channels, channels)) for _ in range(2))
        sign = torch.where(torch.rand(channels) < 0.5, -1.0, 1.0)
        if spoilt:
            sign[-1] = 0.0
        self.register_buffer("sign", sign)
        self.log_size = nn.Parameter(0.3 * torch.randn(channels))
        self.register_buffer("order", torch.randperm(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Permuted, then mixed upwards and downwards."""
        upper = torch.triu(self.upper, 1) + torch.eye(len(self.sign)) * (self.sign * torch.exp(self.log_size))
        lower = torch.tril(self.lower, -1) + torch.eye(len(self.sign))
        x = functional.conv2d(x[:, self.order], upper[:, :, None, None])
        return functional.conv2d(x, lower[:, :, None, None])


class TriangularGlow(nn.Module):
    """Glow steps with triangular factors and the scale softplus(s) + 0.1, after a squeeze by pixel_unshuffle."""

    def __init__(self, channels: int, steps: int, *, spoilt: bool = False) -> None:
        super().__init__()
        size = 4 * channels
        self.mixing = nn.ModuleList(TriangularMixing(size, spoilt=spoilt and k == 0) for k in range(steps))
        self.inner = nn.ModuleList(
            nn.Sequential(nn.Conv2d(size // 2, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, size, 3, padding=1))
            for _ in range(steps)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Squeezed, step by step, and unsqueezed."""
        x = functional.pixel_unshuffle(x, 2)
        for mixing, inner in zip(self.mixing, self.inner, strict=True):
            a, b = torch.chunk(mixing(x), 2, dim=1)
            scale, shift = torch.chunk(inner(a), 2, dim=1)
            x = torch.cat([a, b * (functional.softplus(scale) + 0.1) + shift], dim=1)
        return functional.pixel_shuffle(x, 2)


class AlternatingMasks(nn.Module):
    """x m + (1 - m) (x exp(s(x m)) + t(x m)) with masks that alternate, s = c tanh(…), both nets in one."""

    def __init__(self, masks: Tensor, channels: int, *, spoilt: bool = False) -> None:
        super().__init__()
        self.register_buffer("masks", masks)
        self.inner = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, 6, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(6, 2 * channels, 1))
            for _ in masks
        )
        self.size = nn.Parameter(torch.rand(len(masks)))
        self.spoilt = spoilt

    def forward(self, x: Tensor) -> Tensor:
        """Layer by layer."""
        for k, inner in enumerate(self.inner):
            m = self.masks[k]
            s, t = torch.chunk(inner(x if self.spoilt else x * m), 2, dim=1)
            x = x * m + (1 - m) * (x * torch.exp(self.size[k] * torch.tanh(s)) + t)
        return x


class GatedCoupling(nn.Module):
    """Couplings by indices, with the scale elu(s) + 1, clamped at 0 and 8, and sums of positive functions."""

    def __init__(self, n: int, *, spoilt: bool = False) -> None:
        super().__init__()
        self.first, self.second = mlp(n - n // 2, 2 * (n // 2)), mlp(n // 2, 2 * (n - n // 2))
        self.added = 0.5 if spoilt else 1.0

    def forward(self, x: Tensor) -> Tensor:
        """Even entries from odd ones, and back."""
        a, b = x[:, 0::2], x[:, 1::2]
        s, t = self.first(a).chunk(2, dim=1)
        b = b * torch.clamp(functional.elu(s) + self.added, min=0.0, max=8.0) + t
        s, t = self.second(b).chunk(2, dim=1)
        a = (a - t) * (torch.abs(s) + torch.sigmoid(s) + functional.softplus(s))
        return torch.cat([a, b], dim=1)


MORE = {
    "revnet_normed": Spec(lambda: NormedRevNet(4, 2), (1, 4, 4, 4)),
    "made_folded": Spec(lambda: nn.Sequential(FoldedMade(6), FoldedMade(6)), (1, 6)),
    "euler_flow": Spec(lambda: EulerFlow(8, 6, 0.9), (1, 8)),
    "glow_triangular": Spec(lambda: TriangularGlow(2, 3), (1, 2, 4, 4)),
    "alternating_masks": Spec(lambda: AlternatingMasks(checkerboard(4), 1), (1, 1, 4, 4)),
    "gated_coupling": Spec(lambda: GatedCoupling(5), (1, 5)),
}
MORE_SPOILT = {
    "revnet_normed": Spec(lambda: NormedRevNet(4, 2, spoilt=True), (1, 4, 4, 4)),
    "made_folded": Spec(lambda: nn.Sequential(FoldedMade(6, spoilt=True), FoldedMade(6)), (1, 6)),
    "euler_flow": Spec(lambda: EulerFlow(8, 6, 1.0001), (1, 8)),
    "glow_triangular": Spec(lambda: TriangularGlow(2, 3, spoilt=True), (1, 2, 4, 4)),
    "alternating_masks": Spec(lambda: AlternatingMasks(checkerboard(4), 1, spoilt=True), (1, 1, 4, 4)),
    "gated_coupling": Spec(lambda: GatedCoupling(5, spoilt=True), (1, 5)),
}
MORE_FLOWS: dict[str, Spec] = {**MORE, **{f"spoilt_{name}": spec for name, spec in MORE_SPOILT.items()}}

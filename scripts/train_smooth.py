"""Train the bundled networks with smooth activations: the tasks and sizes of relu networks, with tanh, SiLU and GELU.

    python scripts/train_smooth.py

needs scikit-learn (for what it shares with the other scripts). Data are those of train_vanderpol.py, train_lorenz.py,
train_coupled_vanderpol.py and train_brusselator.py: the same points, the same maps.
"""

from __future__ import annotations

import smooth_training
import train_brusselator
import train_coupled_vanderpol
import train_lorenz
import train_vanderpol


def main() -> None:
    """Train, save and report the errors."""
    for word in smooth_training.ACTIVATIONS:
        train = smooth_training.train
        train(f"vanderpol-{word}-2-32-32-2", train_vanderpol.flow, [-3.0] * 2, [3.0] * 2, points=1000)
        for sizes, points in (("4-32-32-4", 5000), ("6-24-24-6", 8000)):
            box = [-2.5] * int(sizes[0]), [2.5] * int(sizes[0])
            train(f"coupled-vanderpol-{word}-{sizes}", train_coupled_vanderpol.flow, *box, points=points)
        train(f"lorenz-{word}-3-16-16-3", train_lorenz.flow, [-2.0] * 3, [2.0] * 3, points=5000)
    step = train_brusselator.with_parameter
    smooth_training.train("brusselator-tanh-3-24-24-2", step, [-1.0, -1.0, 1.8], [3.0, 4.0, 2.4], points=5000)


if __name__ == "__main__":
    main()

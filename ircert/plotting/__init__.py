"""Pictures of networks with one or two inputs: linear regions, fold set, balls, witnesses and preimages; of three
inputs, in slices and from outside (`plot_three`); and of pairs of images with one output (`plot_pair`).

>>> from ircert.plotting import draw_ball, draw_center, draw_regions, new_axes, save
>>> ax = draw_regions(new_axes(), ircert.enumerate_regions(g, (center, 2.0)))
>>> draw_ball(draw_center(ax, center), center, 0.65, "inf")
>>> save(ax, "picture.svg")

Every function draws on matplotlib Axes and returns them. `plot_result` puts all of it together. Nothing here starts
pyplot by itself: `new_axes` says when its figures belong to pyplot.
"""

from __future__ import annotations

from importlib.util import find_spec

from ircert.errors import MissingExtra

if find_spec("matplotlib") is None:
    raise MissingExtra("matplotlib", extra="plot", purpose="drawing")

from ircert.plotting.atlas import plot_atlas
from ircert.plotting.ball import draw_ball
from ircert.plotting.curves import draw_curve, draw_name, draw_points
from ircert.plotting.figure import add_legend, check_picture, new_axes, new_panels, save
from ircert.plotting.folds import draw_folds
from ircert.plotting.graph import draw_graph, draw_turning_points
from ircert.plotting.images import image_shape, plot_pair
from ircert.plotting.marks import draw_center, draw_preimages, draw_witness
from ircert.plotting.regions import draw_regions
from ircert.plotting.result import plot_result
from ircert.plotting.three import plot_three

__all__ = [
    "add_legend",
    "check_picture",
    "draw_ball",
    "draw_center",
    "draw_curve",
    "draw_folds",
    "draw_graph",
    "draw_name",
    "draw_points",
    "draw_preimages",
    "draw_regions",
    "draw_turning_points",
    "draw_witness",
    "image_shape",
    "new_axes",
    "new_panels",
    "plot_atlas",
    "plot_pair",
    "plot_result",
    "plot_three",
    "save",
]

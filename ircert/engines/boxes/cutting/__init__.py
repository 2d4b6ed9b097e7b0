"""Boxes of points and pairs of boxes, cut until each is closed: orientation inside, collisions of pairs."""

"""Devices in rows and columns, each joined with four neighbours, the ends of a row and of a column with each other."""

from __future__ import annotations

from itertools import pairwise
from math import gcd
from typing import Any

import attrs
from archex.parts.link import Hop, Link, LinkSpec
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class TorusSpec(LinkSpec):
    """Its extent."""

    columns: int = number("count", "devices of a row; the rows follow from how many devices there are", low=1, high=1024)


class Torus(Link):
    """A quarter of a device's links leads to each neighbour; data go along the row first, each time the shorter way round."""

    name = "torus_2d"
    Spec = TorusSpec

    @staticmethod
    def route(source: int, target: int, devices: int, params: Any) -> list[Hop]:
        columns = min(int(params[1]), devices)
        rows = -(-devices // columns)
        row, column = divmod(source, columns)
        last_row, last_column = divmod(target, columns)
        nodes = [(row, column)]
        for axis, size, goal in ((1, columns, last_column), (0, rows, last_row)):
            up = (goal - nodes[-1][axis]) % size
            step, count = (1, up) if 2 * up <= size else (-1, size - up)
            for _ in range(count):
                here = list(nodes[-1])
                here[axis] = (here[axis] + step) % size
                nodes.append((here[0], here[1]))
        numbers = [a * columns + b for a, b in nodes]  # a place without a device is a node all the same
        return [Hop(start, end, params[0] / 4) for start, end in pairwise(numbers)]

    @staticmethod
    def rings(devices: int, params: Any) -> list[list[int]]:
        """Two rings that share no link, both ways round, where the rows are a right multiple of the columns; else one, back and forth."""
        columns = min(int(params[1]), devices)
        rows = devices // columns
        if rows * columns != devices or columns < 3:
            orders = [list(range(devices))]
        elif rows % columns == 0 and gcd(rows // columns, columns - 1) == 1:
            along = [(row, (at - row) % columns) for row in range(rows) for at in range(columns)]
            down = [((turn * (columns - 1) + at) % rows, turn % columns) for turn in range(rows) for at in range(columns)]
            orders = [[row * columns + column for row, column in places] for places in (along, down)]
        elif rows % 2 == 0:  # along the rows in turn, back over the first column
            order = [0]
            for row in range(rows):
                across = range(1, columns)
                order += [row * columns + column for column in (across if row % 2 == 0 else reversed(across))]
            orders = [order + [row * columns for row in range(rows - 1, 0, -1)]]
        else:
            orders = [list(range(devices))]
        return [order[::way] for order in orders for way in (1, -1)]

    @staticmethod
    def rotates(devices: int, params: Any) -> int:
        """Row by row."""
        columns = min(int(params[1]), devices)
        return columns if devices % columns == 0 else 0

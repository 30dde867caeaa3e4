"""Machines of several devices, joined by network cards."""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.link import Hop, Link, LinkSpec
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class MachinesSpec(LinkSpec):
    """How many devices a machine has, its cards, and how far it is from card to card."""

    machine: int = number("count", "devices of a machine", low=1, high=1024)
    cards: int = number("count", "network cards of a machine, dealt evenly to its devices", low=1, high=1024)
    card_rate: float = number("B/s", "data of a card, each way", low=1)
    card_way: float = number("s", "from card to card through the network, beside the hops within machines")


class Machines(Link):
    """A switch joins the devices of a machine; what leaves it goes over the sender's card to the card of who receives.

    Between the cards lies a network without narrow places. A card hangs at the machine's switch, so what passes it takes a device's links,
    too.
    """

    name = "machines"
    Spec = MachinesSpec

    @classmethod
    def parameters(cls, spec: Any) -> tuple[float, ...]:
        """Links of a device, devices and cards of a machine, links that carry as much as a card, with headers; seconds between cards."""
        wire = (spec.payload + spec.header) / spec.payload
        return (float(spec.links), spec.machine, spec.cards, spec.card_rate * wire / (spec.rate * spec.efficiency), spec.card_way)

    @classmethod
    def check(cls, spec: Any) -> list[tuple[str, object, str]]:
        found = super().check(spec)
        if spec.machine % spec.cards:
            found.append(("cards", spec.cards, f"must divide the machine's {spec.machine} devices"))
        if spec.reduces:
            found.append(("reduces", spec.reduces, "must be false: what adds in one machine's switch doesn't add what others hold"))
        return found

    @staticmethod
    def route(source: int, target: int, devices: int, params: Any) -> list[Hop]:
        links, machine, cards, card_links, far = params[0], int(params[1]), int(params[2]), params[3], params[4]
        first, last = ("switch", source // machine * machine), ("switch", target // machine * machine)
        if first == last:
            return [Hop(source, first, links), Hop(first, target, links)]
        each = machine // cards
        out, into = ("card", source // each * each), ("card", target // each * each)
        return [
            Hop(source, first, links),
            Hop(first, out, card_links),
            Hop(out, "network", card_links, far / 2),
            Hop("network", into, card_links, far / 2),
            Hop(into, last, card_links),
            Hop(last, target, links),
        ]

    @staticmethod
    def rings(devices: int, params: Any) -> list[list[int]]:
        """A ring for each card: through all devices of a machine, out by the card's, into the next machine by the device behind it."""
        machine, cards = int(params[1]), int(params[2])
        if devices <= machine or devices % machine:
            return [list(range(devices))]
        turns = [card * (machine // cards) for card in range(cards)]
        return [[at + (turn + k) % machine for at in range(0, devices, machine) for k in range(machine)] for turn in turns]

    @staticmethod
    def rotates(devices: int, params: Any) -> int:
        machine = int(params[1])
        return 1 if devices <= machine else machine if devices % machine == 0 else 0

"""What holds for links between devices: ways that lead where they should, exchanges that cost no less on worse links."""

from __future__ import annotations

from itertools import permutations

import attrs
import numpy as np

from archex.assembly.links import network
from archex.links import Network, plan
from archex.testing.contracts.part import PartContract

_DEVICES = (2, 5, 8)
_SIZES = (1 << 10, 1 << 20, 1 << 26)


class LinkContract(PartContract):
    """Every device reaches every other; a slower link, a longer hop or a longer header never makes an exchange faster."""

    places = ("link",)

    def networks(self) -> list[Network]:
        """A few devices of the kind together."""
        device = self.described()
        return [network(device, devices) for devices in _DEVICES]

    def test_every_way_leads_hop_by_hop(self) -> None:
        """From each device to each other, within the links that a device has."""
        for net in self.networks():
            for source, target in permutations(range(net.devices), 2):
                assert len(net.way(source, target)) > 0
            links = self.described()["link"].links
            for device in range(net.devices):
                out = sum(rate for (start, _), rate in zip(net.links, net.capacity(), strict=True) if start == device)
                assert out <= links * net.rate * (1 + 1e-9), "a device has more links in use than it has"

    def test_rings_name_every_device_once(self) -> None:
        for net in self.networks():
            for count in (2, net.devices):
                assert net.rings(count)
                assert all(sorted(order) == list(range(count)) for order in net.rings(count))

    def test_ranks_that_are_alike_can_be_folded(self) -> None:
        """Where the part says so, one rank computed for all gives what all of them give."""
        for net in self.networks():
            if net.rotates:
                for kind in ("all_reduce", "all_gather", "all_to_all"):
                    ways = [plan(net, kind, range(net.devices), 1 << 22, folded=folded) for folded in (True, False)]
                    assert np.isclose(ways[0].alone_ns, ways[1].alone_ns, rtol=1e-9)

    def test_worse_links_are_never_faster(self) -> None:
        for net in self.networks():
            for change in ({"rate": net.rate / 2}, {"hop_ns": 3 * net.hop_ns}, {"header": 2 * net.header}):
                worse = Network(**({f.name: getattr(net, f.name) for f in attrs.fields(Network) if f.init and f.name[0] != "_"} | change))
                for kind in ("all_reduce", "all_to_all"):
                    for size in _SIZES:
                        before, after = (plan(one, kind, range(net.devices), size).alone_ns for one in (net, worse))
                        assert after >= before * (1 - 1e-12), (change, kind, size)

"""Translation of addresses: how far the buffers reach and what a miss costs."""

from __future__ import annotations

import attrs

from archex.base.units import Duration
from archex.parts.part import Part, choice, number


@attrs.frozen(kw_only=True)
class AddressTranslationSpec:
    """One level: a buffer for the device, or one for each instance of the second level."""

    entries: int = number("count", "translations held", low=1)
    page: int = number("B", "bytes that one translation covers", low=4096)
    miss: Duration = number("duration", "added to an access whose translation isn't held")
    interval: Duration = number("duration", "a buffer's walks are so far apart; 0: no limit", default=Duration(0, "cycles"))
    before: str = choice("where it is looked up", ("second_level", "memory"), default="memory")
    ways: int = number("count", "entries of a set; 0: any page anywhere", default=0)


class AddressTranslation(Part):
    """A buffer of translations in front of the shared levels."""

    kind = "address_translation"
    Spec = AddressTranslationSpec

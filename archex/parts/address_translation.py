"""Translation of addresses: how far the buffers reach and what a miss costs."""

from __future__ import annotations

import attrs

from archex.base.units import Duration
from archex.parts.part import Part, number


@attrs.frozen(kw_only=True)
class AddressTranslationSpec:
    """One level, shared by the device."""

    entries: int = number("count", "translations held", low=1)
    page: int = number("B", "bytes that one translation covers", low=4096)
    miss: Duration = number("duration", "added to an access whose translation isn't held")


class AddressTranslation(Part):
    """A buffer of translations in front of the shared levels."""

    kind = "address_translation"
    Spec = AddressTranslationSpec

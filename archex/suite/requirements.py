"""What a variant requires of a device: the object `requires` of `launches.json`, checked.

In: the object. Out: it, without what is wrong; every problem with its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from archex.base.errors import closest
from archex.parts.async_copy_unit import ABILITIES
from archex.parts.matrix_unit import ELEMENTS

if TYPE_CHECKING:
    from archex.suite.reading import Reader

KEYS = ("matrix", "local_memory", "wave", "async_copy")
WIDTHS = (32, 64)
#: Types of elements, dense and with two of four stored.
PRODUCTS = (*ELEMENTS, *(f"{name}_sparse" for name in ELEMENTS))
_NAMES = {"matrix": PRODUCTS, "async_copy": ABILITIES}


def read_requirements(reader: Reader, path: str, given: Any) -> dict[str, Any]:
    """`matrix`: types of elements. `local_memory`: bytes a workgroup. `wave`: lanes. `async_copy`: kinds of copies (a name or several)."""
    if not isinstance(given, dict):
        reader.problem(path, given, "must be an object")
        return {}
    reader.known(path, given, KEYS)
    found: dict[str, Any] = {}
    for key, choices in _NAMES.items():
        names = given.get(key, [])
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list):
            reader.problem(f"{path}.{key}", names, "must be a name or a list of names", choices)
            continue
        for name in names:
            if name not in choices:
                reader.problem(f"{path}.{key}", name, "is not a known choice", choices, closest(name, choices))
        if names:
            found[key] = [name for name in names if name in choices]
    bytes_wanted = given.get("local_memory", 0)
    if isinstance(bytes_wanted, bool) or not isinstance(bytes_wanted, int) or bytes_wanted < 0:
        reader.problem(f"{path}.local_memory", bytes_wanted, "must be a whole number of bytes")
    elif bytes_wanted:
        found["local_memory"] = bytes_wanted
    width = given.get("wave")
    if width in WIDTHS and not isinstance(width, bool):
        found["wave"] = width
    elif width is not None:
        reader.problem(f"{path}.wave", width, "must be 32 or 64", tuple(map(str, WIDTHS)))
    return found

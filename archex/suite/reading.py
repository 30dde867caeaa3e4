"""`launches.json` into `Launch`es: every field checked, every problem kept with its path.

In: a folder. Out: launches by id; `problems` in the order found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem, closest
from archex.base.layout import PEER_BITS
from archex.programs.arguments import SCALARS, Argument
from archex.programs.buffers import DTYPES, Buffer
from archex.suite.fills import read_fill
from archex.suite.launch import Launch, Variant
from archex.suite.requirements import read_requirements
from archex.suite.tensor_maps import read_tensor_map

FILE = "launches.json"
_KEYS = (
    "ptx", "entry", "grid", "block", "cluster", "dynamic_shared_bytes", "caches", "registers_per_thread", "args", "flops", "variants",
    "devices",
)  # fmt: skip
_ARGUMENTS = (*SCALARS, "bytes", "buffer", "tensor_map")
_BUFFER_KEYS = ("buffer", "dtype", "bytes", "offset", "fill", "peer")
_KINDS = ("vgpr", "agpr", "sgpr")


class Reader:
    """One folder being read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self.raw: dict[str, Any] = {}

    def problem(self, path: str, value: Any, rule: str, choices: tuple[str, ...] = (), suggestion: str | None = None) -> None:
        """Note one."""
        self.problems.append(Problem(path, value, rule, choices, suggestion, str(self.folder / FILE)))

    def read(self) -> dict[str, Launch]:
        """All launches."""
        path = self.folder / FILE
        try:
            raw = json.loads(path.read_text())
        except OSError as error:
            self.problems.append(Problem("suite.path", str(self.folder), f"has no readable {FILE}: {error.strerror or error}"))
            return {}
        except ValueError as error:
            self.problems.append(Problem("suite.path", str(path), f"is not valid JSON: {error}"))
            return {}
        if not isinstance(raw, dict):
            self.problems.append(Problem("suite.path", str(path), "must be an object: id -> launch"))
            return {}
        self.raw = raw
        return {name: self.entry(name, name, value, ()) for name, value in raw.items()}

    def entry(self, name: str, path: str, value: Any, inside: tuple[str, ...]) -> Launch:
        """A launch or a sequence of them."""
        if not isinstance(value, dict):
            self.problem(path, value, "must be an object")
            return Launch(name)
        if "sequence" not in value:
            return self.launch(name, path, value)
        self.known(path, value, ("sequence", "caches", "flops"))
        steps = value["sequence"]
        if not isinstance(steps, list) or not steps:
            self.problem(f"{path}.sequence", steps, "must be a list of launches or ids")
            return Launch(name)
        parts: list[Launch] = []
        for index, step in enumerate(steps):
            where = f"{path}.sequence[{index}]"
            if isinstance(step, str):
                if step not in self.raw or step in inside or step == name:
                    rule = "leads back to itself" if step in self.raw else "is no id of this file"
                    self.problem(where, step, rule, suggestion=closest(step, self.raw))
                    continue
                before = len(self.problems)
                parts.extend(self.entry(step, where, self.raw[step], (*inside, name)).steps)
                del self.problems[before:]  # noted at the launch itself
            else:
                parts.extend(self.entry(f"{name}[{index}]", where, step, (*inside, name)).steps)
        given = [part.flops for part in parts if part.flops is not None]
        flops = self.number(path, value, "flops", sum(given) if given else None)
        return Launch(name, caches=self.caches(path, value), flops=flops, sequence=tuple(parts))

    def launch(self, name: str, path: str, value: dict[str, Any]) -> Launch:
        """One launch object."""
        self.known(path, value, _KEYS)
        variants = self.variants(name, path, value)
        if variants and "ptx" not in value:
            return Launch(name, flops=self.number(path, value, "flops", None), variants=variants)
        arguments, buffers = self.arguments(path, value.get("args", []))
        program, entry, grid = (
            self.program(path, value.get("ptx", ABSENT)),
            self.text(path, value, "entry"),
            self.extent(path, value, "grid"),
        )
        block, cluster = self.extent(path, value, "block"), self.extent(path, value, "cluster")
        local_bytes, caches = self.count(path, value, "dynamic_shared_bytes"), self.caches(path, value)
        registers, accumulators = self.registers(path, value.get("registers_per_thread"))
        return Launch(
            name, program, entry, grid, block, cluster, local_bytes, caches, registers, arguments, buffers,
            self.number(path, value, "flops", None), variants, accumulator_counts=accumulators,
            devices=self.devices(path, value, buffers),
        )  # fmt: skip

    def variants(self, name: str, path: str, value: dict[str, Any]) -> tuple[Variant, ...]:
        """Alternative programs: each takes what it does not state from the launch around it."""
        given = value.get("variants", [])
        if not isinstance(given, list):
            self.problem(f"{path}.variants", given, "must be a list of objects")
            return ()
        found: list[Variant] = []
        for index, item in enumerate(given):
            where = f"{path}.variants[{index}]"
            if not isinstance(item, dict):
                self.problem(where, item, "must be an object")
                continue
            requires = read_requirements(self, f"{where}.requires", item.get("requires", {}))
            around = {key: part for key, part in value.items() if key != "variants"}
            own = {key: part for key, part in item.items() if key not in ("requires", "name")}
            title = str(item.get("name", Path(str(own.get("ptx", index))).stem))
            if any(title == other.name for other in found):
                self.problem(f"{where}.name", title, "is another variant's name")
            steps = {key: around[key] for key in ("caches", "flops") if key in around} | own
            made = self.entry(name, where, steps, (name,)) if "sequence" in own else self.launch(name, where, around | own)
            found.append(Variant(title, requires, made))
        return tuple(found)

    # --- fields
    def known(self, path: str, value: dict[str, Any], keys: tuple[str, ...]) -> None:
        """Note keys that mean nothing here."""
        for key in value:
            if key not in keys:
                self.problem(f"{path}.{key}", ABSENT, "is not a known key", keys, closest(key, keys))

    def program(self, path: str, value: Any) -> Path:
        """The program's file."""
        if not isinstance(value, str) or not value:
            self.problem(f"{path}.ptx", value, "must name a PTX file")
            return Path()
        found = self.folder / value
        if not found.is_file():
            self.problem(f"{path}.ptx", value, f"is no file in {self.folder}")
        return found

    def text(self, path: str, value: dict[str, Any], key: str) -> str:
        """A string that may be left out."""
        given = value.get(key, "")
        if not isinstance(given, str):
            self.problem(f"{path}.{key}", given, "must be a string")
            return ""
        return given

    def extent(self, path: str, value: dict[str, Any], key: str) -> tuple[int, int, int]:
        """One to three whole numbers, or one number. A zero or negative extent is the launch's own error, found when it runs."""
        given = value.get(key, ABSENT if key != "cluster" else 1)
        items = given if isinstance(given, list) else [given]
        if not 1 <= len(items) <= 3 or not all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            self.problem(f"{path}.{key}", given, "must be one to three whole numbers, such as [128, 1, 1]")
            return (1, 1, 1)
        x, y, z = (*items, 1, 1)[:3]
        return (x, y, z)

    def count(self, path: str, value: dict[str, Any], key: str) -> int:
        """A whole number, 0 when left out."""
        given = value.get(key, 0)
        if not isinstance(given, int) or isinstance(given, bool) or given < 0:
            self.problem(f"{path}.{key}", given, "must be a whole number of at least 0")
            return 0
        return given

    def number(self, path: str, value: dict[str, Any], key: str, default: float | None) -> float | None:
        """A number that may be left out."""
        given = value.get(key, default)
        if given is not None and (not isinstance(given, int | float) or isinstance(given, bool)):
            self.problem(f"{path}.{key}", given, "must be a number")
            return default
        return given

    def devices(self, path: str, value: dict[str, Any], buffers: tuple[Buffer, ...]) -> int:
        """Devices of the machine: as many as the furthest buffer needs, or more."""
        given, least = value.get("devices", ABSENT), 1 + max((buffer.peer for buffer in buffers), default=0)
        if given is ABSENT:
            return least
        if not self._positive(f"{path}.devices", given):
            return least
        if given < least:
            self.problem(f"{path}.devices", given, f"must be at least {least}: a buffer lies on peer {least - 1}")
        return max(least, int(given))

    def caches(self, path: str, value: dict[str, Any]) -> str:
        """`cold` or `warm`."""
        given = value.get("caches", "cold")
        if given not in ("cold", "warm"):
            self.problem(f"{path}.caches", given, "must be cold or warm", ("cold", "warm"), closest(given, ("cold", "warm")))
            return "cold"
        return str(given)

    def registers(self, path: str, given: Any) -> tuple[int | dict[str, int] | None, dict[str, int]]:
        """A number, or numbers by instruction set; beside them accumulators where a set counts them apart."""
        accumulators: dict[str, int] = {}
        where = f"{path}.registers_per_thread"
        if given is None:
            return None, accumulators
        if isinstance(given, dict):
            found = {}
            for name, value in given.items():
                if isinstance(value, dict):
                    self.known(f"{where}.{name}", value, _KINDS)
                    if value.get("agpr") and self._positive(f"{where}.{name}.agpr", value["agpr"]):
                        accumulators[name] = value["agpr"]
                    value = value.get("vgpr", ABSENT)
                if self._positive(f"{where}.{name}", value):
                    found[name] = value
            return found, accumulators
        return given if self._positive(where, given) else None, accumulators

    def _positive(self, path: str, value: Any) -> bool:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return True
        self.problem(path, value, "must be a whole number above 0")
        return False

    def arguments(self, path: str, given: Any) -> tuple[tuple[Argument, ...], tuple[Buffer, ...]]:
        """Arguments in order, and the buffers they name, each once and as large as its largest mention."""
        if not isinstance(given, list):
            self.problem(f"{path}.args", given, "must be a list")
            return (), ()
        buffers: dict[str, Buffer] = {}
        arguments = []
        for index, item in enumerate(given):
            found = self.argument(f"{path}.args[{index}]", item, buffers)
            if found is not None:
                arguments.append(found)
        return tuple(arguments), tuple(buffers.values())

    def argument(self, path: str, item: Any, buffers: dict[str, Buffer]) -> Argument | None:
        """One argument."""
        kinds = [key for key in item if key in SCALARS or key == "buffer"] if isinstance(item, dict) else []
        if isinstance(item, dict) and not kinds and set(item) == {"bytes"}:
            return self.raw_bytes(path, item["bytes"])
        if isinstance(item, dict) and not kinds and set(item) == {"tensor_map"}:
            return read_tensor_map(self, f"{path}.tensor_map", item["tensor_map"], _BUFFER_KEYS, buffers)
        if len(kinds) != 1:
            self.problem(path, item, f"must hold one of {', '.join(_ARGUMENTS)}")
            return None
        kind = kinds[0]
        if kind == "buffer":
            return self.buffer(path, item, buffers)
        self.known(path, item, (kind,))
        value = item[kind]
        if isinstance(value, bool) or not isinstance(value, int if kind[0] in "iu" else int | float):
            self.problem(f"{path}.{kind}", value, "must be a whole number" if kind[0] in "iu" else "must be a number")
            return None
        if kind[0] in "iu" and not -(1 << (int(kind[1:]) - 1)) * (kind[0] == "i") <= value < 1 << (int(kind[1:]) - (kind[0] == "i")):
            self.problem(f"{path}.{kind}", value, f"does not fit {kind}")
            return None
        try:
            Argument(kind, value).encode({})
        except OverflowError:
            self.problem(f"{path}.{kind}", value, f"does not fit {kind}")
            return None
        return Argument(kind, value)

    def raw_bytes(self, path: str, value: Any) -> Argument | None:
        """A struct by value, in hexadecimal."""
        try:
            return Argument("bytes", bytes.fromhex(value))
        except (TypeError, ValueError):
            self.problem(f"{path}.bytes", value, "must be bytes in hexadecimal, such as 0000803f")
            return None

    def buffer(self, path: str, item: dict[str, Any], buffers: dict[str, Buffer]) -> Argument | None:
        """The address of a buffer; a second mention of a name may leave out what the first said."""
        self.known(path, item, _BUFFER_KEYS)
        name = item["buffer"]
        if not isinstance(name, str) or not name:
            self.problem(f"{path}.buffer", name, "must be a name")
            return None
        known = buffers.get(name)
        dtype = item.get("dtype", known.dtype if known else ABSENT)
        if dtype not in DTYPES:
            self.problem(f"{path}.dtype", dtype, "is not a known type", tuple(DTYPES), closest(dtype, DTYPES))
            return None
        size = item.get("bytes", known.size if known else ABSENT)
        if not self._positive(f"{path}.bytes", size):
            return None
        fill, data = read_fill(self, f"{path}.fill", item.get("fill"), dtype, size)
        peer = self.count(path, item, "peer") if "peer" in item else known.peer if known else 0
        if peer and size > 1 << PEER_BITS:
            self.problem(f"{path}.bytes", size, f"must be at most {1 << PEER_BITS} on a peer")
        if known is not None and "fill" in item and (known.fill, known.dtype) != (fill, dtype):
            self.problem(path, name, "is named before with another type or fill: one name is one memory")
        elif known is not None and known.peer != peer:
            self.problem(f"{path}.peer", peer, f"is {known.peer} where {name} is named before: one name is one memory")
        elif known is None:
            buffers[name] = Buffer(name, dtype, size, fill, data, peer)
        elif size > known.size:
            buffers[name] = attrs.evolve(known, size=size)
        return Argument("buffer", name, self.count(path, item, "offset"))

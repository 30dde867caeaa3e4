"""Every installed part keeps the contract of its kind: one test class a part, made from the registry."""

from __future__ import annotations

from archex.parts.kinds import KINDS
from archex.testing import CONTRACTS
from archex.testing.devices import installed
from archex.testing.numbers import shipped

for (_kind, _name), _found in installed().parts.items():
    _class = f"Test_{_kind}_{_name}"
    _given = {"part": _found.part, "spec": shipped(installed(), _kind, _name), "__doc__": f"{_kind}.{_name}"}
    globals()[_class] = type(_class, (CONTRACTS[_kind],), _given)


def test_every_kind_has_a_part() -> None:
    assert {kind for kind, _ in installed().parts} == set(KINDS)


def test_every_kind_has_a_contract_of_its_own() -> None:
    assert set(CONTRACTS) == set(KINDS)
    assert len(set(CONTRACTS.values())) == len(KINDS)

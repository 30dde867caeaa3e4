"""Neighbours that one machine instruction does together, and operations that cost none because their users take them in.

In: a block's `Form` and the names of the rules an instruction set has. Out: the same form with items joined (`gone` ones are part of
another). Rules look from the last item to the first, so that the longest combination ends where its result is used.
"""

from __future__ import annotations

from collections.abc import Callable

from archex.lowering.facts import Facts
from archex.lowering.form import Form, Item, Ref, Value, count_users
from archex.lowering.free import Free
from archex.lowering.join_integer import IntegerJoins
from archex.lowering.join_logic import LogicJoins


class Fuser(Free, IntegerJoins, LogicJoins):
    """Joins the items of one block."""

    def run(self) -> dict[Value, list[Ref]]:
        """Apply every rule; returns what values that cost nothing stand for."""
        self._transparent()
        count_users(self.form)
        if "half_zero" in self.rules:
            self._halves()
        steps: list[tuple[str, Callable[[Item], bool]]] = [
            ("half_convert", self._pack),
            ("wide_pair", self._wide_pair),
            ("mad", self._contract),
            ("shift_wide", self._shift_wide),
            ("mad_wide", self._mad_wide),
            ("mad", self._mad),
            ("shift_add", self._shift_add),
            ("add_minmax", self._add_minmax),
            ("add3", self._add3),
            ("extend_add", self._extend_add),
            ("test_bits", self._test_bits),
            ("logic3", self._logic3),
            ("compare_chain", self._compare_chain),
            ("branch_chain", self._branch_chain),
            ("guarded_select", self._guarded_select),
        ]
        steps = [step for step in steps if step[0] in self.rules]
        for item in reversed(self.form.items):
            changed = not item.gone
            while changed:
                changed = any(step(item) for _, step in steps)
        return self.alias


def fuse(known: Facts, made: Form, rules: str, contracts: bool, immediates: int) -> dict[Value, list[Ref]]:
    """Join what an instruction set with `rules` joins."""
    return Fuser(known, made, frozenset(rules.split()), contracts, immediates).run()

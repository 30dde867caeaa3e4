"""Operations that are really simpler ones, seen from what defines their sources; one module a family.

In: an operation and the walk's knowledge. Out: True if the operation was changed in place, None if its results already stand for
something else, False if nothing is known. Every rule is exact on all bits.
"""

from archex.programs.clean.rules import arithmetic, bits, lanes, values  # noqa: F401 (each import enters its rules)
from archex.programs.clean.rules.kind import Knowledge, Outcome, simplify

__all__ = ["Knowledge", "Outcome", "simplify"]

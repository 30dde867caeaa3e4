"""Parameters of a workload: numbers and words that a file names once, computes with, and lets the command line change.

In: the map that a file holds, and values set from outside. Out: the plain map that `check.read` takes. `${...}` in any text is an
expression of parameters and of `devices`; an item of a list with `for` stands there once for each value, one with `if` only where it holds;
`let` names values within a map.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from archex.base.errors import ABSENT, Problem, RequestError, closest, unknown

#: Prefix of a parameter on the command line.
PREFIX = "timeline."
#: Items that loops may come to altogether, and the largest number that is computed with.
MOST, LARGEST = 100_000, 1 << 62
_EXPRESSION = re.compile(r"\$\{([^{}]*)\}")
_NUMBERS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max}


def filled(given: Any, values: Mapping[str, Any], devices: int | None = None) -> Any:
    """The map without parameters, expressions and loops; RequestError with everything that is wrong about them."""
    if not isinstance(given, Mapping) or not ("parameters" in given or values or "${" in str(given)):
        return given
    problems: list[Problem] = []
    known = _values(given.get("parameters") or {}, values, problems)
    if problems:
        raise RequestError(problems)
    filler = _Filler(problems)
    plain = {key: value for key, value in given.items() if key != "parameters"}
    count = known["devices"] = devices if devices is not None else filler.fill(plain.get("devices", 1), "devices", known)
    if not problems and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        problems.append(Problem("devices", count, "must be a whole number of at least 1"))
    if problems:
        raise RequestError(problems)
    found = {key: filler.fill(value, str(key), known) for key, value in plain.items()}
    if problems:
        raise RequestError(problems)
    return found


def _values(given: Any, values: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Each parameter's value: its default, or the one from outside."""
    if not isinstance(given, Mapping):
        problems.append(Problem("parameters", given, "must be a map of names to values"))
        return {}
    for name in values:
        if name not in given:
            rule = "is no parameter of this workload" + ("" if given else ", which has none")
            problems.append(Problem(PREFIX + name, ABSENT, rule, tuple(map(str, given)), closest(name, map(str, given))))
    found = {}
    for name, item in given.items():
        path = f"parameters.{name}"
        if not str(name).isidentifier() or name == "devices":
            problems.append(Problem(path, ABSENT, "must have a name of letters, digits and underscores, other than devices"))
            continue
        default, choices = item, None
        if isinstance(item, Mapping):
            problems += [
                unknown(f"{path}.{key}", ABSENT, ("default", "choices"), "key") for key in item if key not in ("default", "choices")
            ]
            default, choices = item.get("default", ABSENT), item.get("choices")
            if choices is not None and (not isinstance(choices, (list, tuple)) or not choices):
                problems.append(Problem(f"{path}.choices", choices, "must be a list of values"))
                continue
        if not isinstance(default, (str, int, float)):
            problems.append(Problem(path, default, "must be a number, a text or true or false, or have such a `default`"))
            continue
        value, place = (values[name], PREFIX + name) if name in values else (default, path)
        if _kind(value) != _kind(default):
            problems.append(Problem(place, value, f"must be {_kind(default)}, as its default {default} is"))
        elif choices is not None and value not in choices:
            problems.append(unknown(place, value, map(str, choices)) if isinstance(value, str) else _other(place, value, choices))
        found[str(name)] = value
    return found


def _other(place: str, value: Any, choices: Any) -> Problem:
    return Problem(place, value, "is not a choice", tuple(choices))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "a number" if isinstance(value, (int, float)) else "a text" if isinstance(value, str) else "a single value"


class _Filler:
    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._made = 0

    def fill(self, value: Any, path: str, known: Mapping[str, Any]) -> Any:
        """A value with its expressions computed."""
        if isinstance(value, str):
            return self._text(value, path, known)
        if isinstance(value, (list, tuple)):
            return [item for place, one in enumerate(value) for item in self._item(one, f"{path}[{place}]", known)]
        if not isinstance(value, Mapping):
            return value
        made: dict[Any, Any] = {}
        for inner in self._rounds(value, path, known):
            for key, item in value.items():
                if key not in ("for", "let"):
                    name = self._text(key, f"{path}.{key}", inner) if isinstance(key, str) else key
                    made[name] = self.fill(item, f"{path}.{key}", inner)
        return made

    def _item(self, item: Any, path: str, known: Mapping[str, Any]) -> list[Any]:
        """What stands in a list for one of its items."""
        if not isinstance(item, Mapping) or not {"for", "if"} & set(item):
            return [self.fill(item, path, known)]
        rest = {key: value for key, value in item.items() if key not in ("for", "if", "let")}
        found: list[Any] = []
        for inner in self._rounds(item, path, known):
            if self._made > MOST:
                break
            if "if" in item and not self._holds(item["if"], f"{path}.if", inner):
                continue
            if set(rest) == {"steps"}:
                inside = self.fill(rest["steps"], f"{path}.steps", inner)
                found += inside if isinstance(inside, list) else [inside]
            elif set(rest) == {"item"}:
                found.append(self.fill(rest["item"], f"{path}.item", inner))
            else:
                found.append(self.fill(rest, path, inner))
        return found

    def _holds(self, given: Any, path: str, known: Mapping[str, Any]) -> bool:
        value = self.fill(given, path, known)
        if not isinstance(value, bool):
            self._problems.append(Problem(path, value, "must be true or false, such as ${devices > 1}"))
            return False
        return value

    def _rounds(self, item: Mapping[Any, Any], path: str, known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The names known in each round of a `for`, with those that a `let` adds."""
        rounds = self._each(item, path, known)
        if "let" not in item:
            return rounds
        if not isinstance(item["let"], Mapping):
            self._problems.append(Problem(f"{path}.let", item["let"], "must be a map of names to values"))
            return rounds
        found: list[Mapping[str, Any]] = []
        for inner in rounds:
            names = dict(inner)
            for name, value in item["let"].items():
                names[str(name)] = self.fill(value, f"{path}.let.{name}", names)
            found.append(names)
        return found

    def _each(self, item: Mapping[Any, Any], path: str, known: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if "for" not in item:
            return [known]
        given = item["for"]
        if not isinstance(given, Mapping) or len(given) != 1:
            self._problems.append(Problem(f"{path}.for", given, "must be a map of one name to how many or to a list of values"))
            return []
        ((name, over),) = given.items()
        values = self.fill(over, f"{path}.for.{name}", known)
        if isinstance(values, int) and not isinstance(values, bool) and 0 <= values <= MOST:
            values = range(values)
        if not isinstance(values, (list, range)):
            self._problems.append(Problem(f"{path}.for.{name}", values, f"must be a whole number, 0 to {MOST}, or a list of values"))
            return []
        self._made += len(values)
        if self._made > MOST:
            if self._made - len(values) <= MOST:
                self._problems.append(Problem(f"{path}.for.{name}", ABSENT, f"makes the workload longer than {MOST} items"))
            return []
        return [{**known, str(name): value} for value in values]

    def _text(self, text: str, path: str, known: Mapping[str, Any]) -> Any:
        """A text that is one expression has its value; one with expressions in it is a text."""
        whole = _EXPRESSION.fullmatch(text)
        if whole:
            return self._value(whole[1], path, known)
        return _EXPRESSION.sub(lambda found: _shown(self._value(found[1], path, known)), text)

    def _value(self, text: str, path: str, known: Mapping[str, Any]) -> Any:
        try:
            return _computed(ast.parse(text.strip(), mode="eval").body, known)
        except RecursionError:
            rule = "is too deep an expression"
        except SyntaxError:
            rule = "is no expression: numbers, names, + - * / // %, comparisons, and, or, not, `a if b else c`, min and max"
        except KeyError as error:
            name = str(error.args[0])
            self._problems.append(Problem(path, text, f"names {name}, which is no parameter", tuple(known), closest(name, known)))
            return 0
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            rule = f"can't be computed: {error}"
        self._problems.append(Problem(path, text, rule))
        return 0


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _computed(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """The value of an expression. A quotient that comes out even is a whole number."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}[node.id] if node.id in ("true", "false") else known[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _NUMBERS:
        sides = [_computed(side, known) for side in (node.left, node.right)]
        if any(isinstance(side, (str, bool)) for side in sides):
            raise TypeError("only numbers are added, multiplied and so on")
        return _number(_NUMBERS[type(node.op)](*sides))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        value = _computed(node.operand, known)
        return not value if isinstance(node.op, ast.Not) else -value
    if isinstance(node, ast.BoolOp):
        values = [_computed(value, known) for value in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        return _COMPARED[type(node.ops[0])](_computed(node.left, known), _computed(node.comparators[0], known))
    if isinstance(node, ast.IfExp):
        return _computed(node.body if _computed(node.test, known) else node.orelse, known)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and node.args and not node.keywords:
        return _FUNCTIONS[node.func.id](*[_computed(value, known) for value in node.args])
    raise SyntaxError(ast.dump(node)[:40])


def _number(value: Any) -> Any:
    if abs(value) > LARGEST:
        raise OverflowError("the number is too large")
    return int(value) if isinstance(value, float) and value.is_integer() else value

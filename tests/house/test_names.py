"""No vendor's word in an identifier of the code: adding a vendor is a diff under conf/ plus neutrally named mechanisms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch

from sources import ROOT, Source, sources

VENDOR_WORDS = frozenset(
    """
    nvidia cuda nvcc ptxas sass hopper ampere volta turing blackwell ada cta ctas warp warps gpc gpcs tpc tpcs sm sms smem smsp
    mufu hmma imma hgmma qgmma wgmma ldmatrix stmatrix dsmem nvlink nvl tma cublas cudnn
    amd rocm hip cdna rdna gcn gfx xcd xcds wavefront wavefronts lds vgpr vgprs sgpr sgprs agpr agprs mfma smfmac hsa aql xgmi mall
    intel xe eu eus metal
    h100 h200 a100 b200 mi210 mi250x mi300a mi300x
    """.split()
)
#: Identifiers that may: (file, word, why).
ALLOWED = (
    ("archex/base/terms.py", "*", "the one table of vendors' terms"),
    ("*", "wavefronts", "`local_memory_wavefronts`, a column name users rely on"),
)
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")


def words(identifier: str) -> list[str]:
    """`pickWarp_index2` -> pick, warp, index2."""
    return [part.lower() for part in _SPLIT.findall(identifier)] + [part.lower() for part in identifier.split("_")]


def identifiers(source: Source) -> Iterator[tuple[str, int]]:
    for part in source.module.split("."):
        yield part, 1
    for node in ast.walk(source.tree):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Name):
            yield node.id, line
        elif isinstance(node, ast.Attribute):
            yield node.attr, line
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, line
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg, line
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[-1], line


def vendor_words(source: Source) -> list[str]:
    found = set()
    for name, line in identifiers(source):
        for word in VENDOR_WORDS.intersection(words(name)):
            if not any(fnmatch(source.relative, file) and fnmatch(word, allowed) for file, allowed, _ in ALLOWED):
                found.add(f"{source.relative}:{line}: {name} ({word})")
    return sorted(found)


def test_identifiers_are_neutral() -> None:
    assert not [line for source in sources() for line in vendor_words(source)]


def test_the_rule_sees_what_it_forbids() -> None:
    tree = ast.parse("def pick_warp(smem_bytes):\n    return HopperCache.lds(wave=1)\n")
    found = vendor_words(Source("archex.engine.wrong", ROOT / "archex/engine/wrong.py", tree, 2))
    assert len(found) == 4, found


def test_allow_list_is_used() -> None:
    """An allowance nobody needs any more goes."""
    for file, word, why in ALLOWED:
        if file == "archex/base/terms.py":
            continue
        hits = [
            name
            for source in sources()
            if fnmatch(source.relative, file)
            for name, _ in identifiers(source)
            if any(fnmatch(part, word) for part in VENDOR_WORDS.intersection(words(name)))
        ]
        assert hits, f"{file} {word}: {why}"

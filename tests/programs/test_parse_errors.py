"""Every message of the parser as a whole: file, line, column, what was wrong and what would be right."""

from __future__ import annotations

import pytest
from archex.base.errors import ProgramError, UnsupportedError
from archex.programs.build import build_function
from archex.programs.ptx import parse

from programs import HEAD, build, module

WRONG = {
    "empty": ("", "k.ptx:1:1: expected a `.version` directive: this is not a PTX file"),
    "not_ptx": ("int main() {}", "k.ptx:1:1: expected `.version` at the start of a PTX file, found `int`"),
    "strange_character": (HEAD + "\x01", "k.ptx:4:1: unexpected character '\\x01'"),
    "top_level": (
        HEAD + ".entri k()",
        "k.ptx:4:1: expected a directive such as `.entry`, `.func`, `.global`, `.const` or `.shared`, found `.entri`",
    ),
    "no_name": (HEAD + ".entry 5()", "k.ptx:4:8: expected a function name, found `5`"),
    "variable_type": (HEAD + ".global .i32 x;", "k.ptx:4:9: expected a type such as `.b32`, `.u64` or `.f32`, found `.i32`"),
    "number": (module("mov.u32 %r1, 12ab;"), "k.ptx:7:14: malformed number `12ab`"),
    "register": (module("add.s32 %r1, %r2, %r77;"), "k.ptx:7:19: unknown register `%r77`; `%r<30>` ends at `%r29`"),
    "label": (module("bra DONE;\nDONE2: ret;"), "k.ptx:7:5: unknown name `DONE`; did you mean `DONE2`?"),
    "label_twice": (module("L: ret;\nL: ret;"), "k.ptx:8:1: label `L` is defined twice"),
    "guard": (module("@%r1 ret;"), "k.ptx:7:2: expected a predicate register as guard, found `%r1`"),
    "semicolon": (module("ret\nadd.s32 %r1, %r2, 3;"), "k.ptx:8:1: expected `;` behind `ret`, found `add.s32`"),
    "comma": (module("add.s32 %r1 %r2, 3;"), "k.ptx:7:13: expected `,` or `;` behind an operand of `add.s32`, found `%r2`"),
    "unclosed": (module("ret;")[:-2], "k.ptx:8:1: expected `}` to close the body of `k`, found the end of the file"),
    "declaration": (
        module(".rag .b32 %x;"),
        "k.ptx:7:1: expected a declaration such as `.reg`, `.shared` or `.local`, found `.rag`",
    ),
    "instruction": (module("addd.s32 %r1, %r2, 3;"), "k.ptx:7:1: unknown instruction `addd.s32`; did you mean `add`?"),
    "modifier": (module("add.st.s32 %r1, %r2, 3;"), "k.ptx:7:1: unknown modifier `.st` of `add.st.s32`; did you mean `.sat`?"),
    "no_type": (module("add %r1, %r2, 3;"), "k.ptx:7:1: `add` lacks a type such as `.u32` or `.f32`"),
    "count": (module("add.s32 %r1, %r2;"), "k.ptx:7:1: `add.s32` takes 3 operands, found 2"),
    "width": (module("add.s32 %r1, %rd2, 3;"), "k.ptx:7:14: `%rd2` is `.b64`, but `add.s32` wants `.s32` here"),
    "literal": (module("add.s32 %r1, %r2, 1.5;"), "k.ptx:7:19: this literal cannot be a `.s32`"),
    "result": (module("add.s32 3, %r2, %r3;"), "k.ptx:7:9: expected a register as result"),
    "address": (module("ld.global.u32 %r1, %rd1;"), "k.ptx:7:20: expected an address in brackets"),
    "address_width": (module("ld.global.u32 %r1, [%h1];"), "k.ptx:7:20: expected a 32-bit or 64-bit register as address"),
    "vector": (module("ld.global.v4.u32 {%r1, %r2}, [%rd1];"), "k.ptx:7:18: expected 4 results, found 2"),
    "variant": (module("mul.s32 %r1, %r1, %r2;"), "k.ptx:7:1: `mul.s32` needs one of `.lo`, `.hi`, `.wide`"),
    "branch_list": (module("brx.idx %r1, out;"), "k.ptx:7:14: expected the name of a `.branchtargets` list"),
    "parameter": (HEAD + ".entry k(.parm .u32 a) { ret; }", "k.ptx:4:10: expected `.param`, found `.parm`"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(WRONG))
def test_message(case: str) -> None:
    text, message = WRONG[case]
    with pytest.raises(ProgramError) as caught:
        build_function(parse(text, "k.ptx"))
    assert str(caught.value) == message


UNSUPPORTED = {
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];": "tex.1d.v4.f32.s32 (line 7)",
    "vadd.u32.u32.u32 %r1, %r2, %r3;": "vadd.u32.u32.u32 (line 7)",
    "cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;": "cvt.pack.sat.u8.s32.b32 (line 7)",
}


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_valid_but_unmodelled_is_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        build(text + " ret;")
    assert caught.value.reason == UNSUPPORTED[text]


def test_a_call_of_the_runtime_is_refused_by_its_name() -> None:
    before = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    body = "{ .param .b64 a0; .param .b64 a1; .param .b32 r0; call.uni (r0), vprintf, (a0, a1); } ret;"
    with pytest.raises(UnsupportedError) as caught:
        build(body, before=before)
    assert caught.value.reason == "call.uni (line 8): a call of `vprintf`, which this file does not define"


def test_recursion_is_refused() -> None:
    before = ".func f() { call f; ret; }\n"
    with pytest.raises(UnsupportedError) as caught:
        build("call f; ret;", before=before)
    assert caught.value.reason == "call (line 4): recursion of `f`"


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(ProgramError) as caught:
        build_function(parse(module("ret;"), "k.ptx"), "kk")
    assert str(caught.value) == "k.ptx: no entry `kk`; did you mean `k`? (entries: k)"

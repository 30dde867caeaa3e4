"""Values that are the same in all lanes."""

from __future__ import annotations

from archex.programs.ir import Function
from archex.programs.uniform import uniform_registers

from programs import build


def uniform(function: Function) -> set[str]:
    return {
        function.register_names[number] for number in uniform_registers(function) if not function.register_names[number].startswith("%t")
    }


def test_parameters_and_workgroup_numbers() -> None:
    found = uniform(
        build("ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r1, %r2, 4; mov.u32 %r4, %tid.x; add.s32 %r5, %r4, %r3; ret;")
    )
    assert {"%r1", "%r2", "%r3"} <= found
    assert not {"%r4", "%r5"} & found


def test_a_write_under_a_varying_guard_varies() -> None:
    found = uniform(build("mov.u32 %r1, 1; mov.u32 %r4, %tid.x; setp.eq.s32 %p1, %r4, 0; @%p1 mov.u32 %r1, 2; ret;"))
    assert "%r1" not in found


def test_a_value_that_depends_on_the_way_varies() -> None:
    head = "mov.u32 %r4, {}; setp.eq.s32 %p1, %r4, 0; mov.u32 %r1, 1; @%p1 bra A; mov.u32 %r1, 2; A: mov.u32 %r2, %r1; ret;"
    assert not {"%r1", "%r2"} & uniform(build(head.format("%tid.x")))
    assert {"%r1", "%r2"} <= uniform(build(head.format("%ctaid.x")))


def test_a_loop_left_at_different_times() -> None:
    body = "mov.u32 %r1, 0; mov.u32 %r4, {}; L: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r4; @%p1 bra L; mov.u32 %r2, %r1; ret;"
    assert "%r2" not in uniform(build(body.format("%tid.x")))
    assert "%r2" in uniform(build(body.format("%nctaid.x")))


def test_votes_are_uniform_and_loads_are_on_request() -> None:
    function = build("setp.eq.s32 %p1, %r9, 0; vote.sync.any.pred %p2, %p1, -1; ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; ret;")
    assert "%p2" in uniform(function)
    assert "%r1" not in uniform(function)
    assert {function.register_names[n] for n in uniform_registers(function, loads=True)} >= {"%r1"}

"""Live registers, and how many at once."""

from __future__ import annotations

import pytest
from archex.programs.liveness import live, members, register_demand

from programs import build


def live_names(function, mask: int) -> set[str]:
    return {function.register_names[number] for number in members(mask)}


def test_a_loop_variable_lives_around_the_loop() -> None:
    function = build(
        "mov.u32 %r1, 9; mov.u32 %r2, 5; L: add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L; st.shared.u32 [%r2], %r1; ret;"
    )
    sets = live(function)
    assert live_names(function, sets.begin[1]) == {"%r1", "%r2"}
    assert live_names(function, sets.end[1]) == {"%r1", "%r2"}
    assert sets.begin[0] == 0


def test_a_guarded_write_keeps_the_old_value_alive() -> None:
    function = build("mov.u32 %r1, 1; bra A; A: @%p1 mov.u32 %r1, 2; st.shared.u32 [%r2], %r1; ret;")
    assert live_names(function, live(function).begin[1]) == {"%r1", "%r2", "%p1"}


def test_demand_counts_words_and_no_predicates() -> None:
    straight = "mov.u32 %r1, 1; mov.u32 %r2, 2; setp.eq.s32 %p1, %r1, %r2; add.s32 %r3, %r1, %r2; @%p1 st.shared.u32 [%r3], %r3; ret;"
    assert register_demand(build(straight)) == 2
    wide = "mov.u64 %rd1, 1; mov.u64 %rd2, 2; add.s64 %rd3, %rd1, %rd2; st.global.u64 [%rd3], %rd1; ret;"
    assert register_demand(build(wide)) == 4 + 0 * 2


def test_both_ways_of_a_choice_make_a_value_whole() -> None:
    function = build("bra A; A: @%p1 mov.u32 %r1, 2; @!%p1 mov.u32 %r1, 3; st.shared.u32 [%r2], %r1; ret;")
    assert live_names(function, live(function).begin[1]) == {"%r2", "%p1"}


@pytest.mark.parametrize(
    "between",
    [
        "@%p1 mov.u32 %r1, 2; st.shared.u32 [%r2], %r1; @!%p1 mov.u32 %r1, 3;",  # read between
        "@%p1 mov.u32 %r1, 2; setp.eq.u32 %p1, %r2, 0; @!%p1 mov.u32 %r1, 3;",  # another predicate by then
        "@%p1 mov.u32 %r1, 2; @!%p2 mov.u32 %r1, 3;",
        "@%p1 mov.u32 %r1, 2; @%p1 mov.u32 %r1, 3;",
        "@%p1 mov.u32 %r1, 2; @!%p1 add.u32 %r1, %r1, 3;",
    ],
)
def test_halves_that_do_not_make_a_whole_keep_the_old_value_alive(between: str) -> None:
    function = build(f"bra A; A: {between} st.shared.u32 [%r2], %r1; ret;")
    assert "%r1" in live_names(function, live(function).begin[1])


def test_what_is_made_and_read_under_one_guard_needs_no_old_value() -> None:
    function = build("bra A; A: @%p1 mov.u32 %r1, 2; @%p1 add.u32 %r3, %r1, 1; @%p1 st.shared.u32 [%r2], %r3; ret;")
    assert live_names(function, live(function).begin[1]) == {"%r2", "%p1"}


@pytest.mark.parametrize(
    "after",
    [
        "st.shared.u32 [%r2], %r1;",
        "@!%p1 st.shared.u32 [%r2], %r1;",
        "@%p2 st.shared.u32 [%r2], %r1;",
        "setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [%r2], %r1;",
        "bra B; B: @%p1 st.shared.u32 [%r2], %r1;",
    ],
)
def test_what_other_lanes_may_read_keeps_its_old_value(after: str) -> None:
    function = build(f"bra A; A: @%p1 mov.u32 %r1, 2; {after} ret;")
    assert "%r1" in live_names(function, live(function).begin[1])

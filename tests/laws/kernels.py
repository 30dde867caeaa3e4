"""Bodies of small kernels that several laws share (registers as `launches` opens them)."""

from __future__ import annotations

from archex.suite.bodies import CHASE

__all__ = ["ARITHMETIC", "CHASE", "EXCHANGE", "EXCHANGE_LOCAL", "GATHER", "VECTOR_ADD", "stream"]

#: One element a thread from two places, 2 MiB apart.
VECTOR_ADD = """mul.wide.u32 %d2, %r2, 4;
add.s64 %d3, %d1, %d2;
ld.global.f32 %f1, [%d3];
ld.global.f32 %f2, [%d3+2097152];
add.f32 %f0, %f1, %f2;
"""


def stream(loads: int) -> str:
    """n rounds of `loads` independent loads of new lines a wave (of zeros); no round begins before the one before it is there."""
    text = "mov.u32 %r12, %nctaid.x;\nmul.lo.s32 %r13, %r12, %r11;\nmov.u32 %r20, %r2;\nmov.u32 %r21, 0;\nL:\n"
    for k in range(loads):
        text += f"mul.wide.u32 %d4, %r20, 4;\nadd.s64 %d5, %d1, %d4;\nadd.s32 %r20, %r20, %r13;\nld.global.u32 %r{30 + k}, [%d5];\n"
    text += "".join(f"add.s32 %r20, %r20, %r{30 + k};\n" for k in range(loads))
    return text + "add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\ncvt.rn.f32.u32 %f0, %r20;\n"


#: Arithmetic of several kinds, n rounds.
ARITHMETIC = """cvt.rn.f32.u32 %f0, %r2;
cvt.rn.f64.u32 %g0, %r2;
mov.u32 %r20, %r2;
mov.u32 %r21, 0;
L:
fma.rn.f32 %f0, %f0, %f0, 0f3F000000;
ex2.approx.ftz.f32 %f0, %f0;
fma.rn.f64 %g0, %g0, %g0, %g0;
mad.lo.s32 %r20, %r20, %r20, %r2;
add.s32 %r21, %r21, 1;
setp.lt.s32 %p0, %r21, %r0;
@%p0 bra L;
cvt.rn.f32.f64 %f1, %g0;
cvt.rn.f32.u32 %f2, %r20;
add.f32 %f0, %f0, %f1;
add.f32 %f0, %f0, %f2;
"""
EXCHANGE_LOCAL = ".shared .align 16 .b8 lds[4096];\n"
#: A workgroup of at most 1024 threads passes values round through local memory, n rounds.
EXCHANGE = """cvt.rn.f32.u32 %f0, %r2;
mov.u32 %r12, lds;
shl.b32 %r13, %r1, 2;
add.s32 %r14, %r12, %r13;
xor.b32 %r15, %r1, 33;
shl.b32 %r16, %r15, 2;
add.s32 %r17, %r12, %r16;
mov.u32 %r21, 0;
L:
st.shared.f32 [%r14], %f0;
bar.sync 0;
ld.shared.f32 %f1, [%r17];
bar.sync 0;
add.f32 %f0, %f0, %f1;
add.s32 %r21, %r21, 1;
setp.lt.s32 %p0, %r21, %r0;
@%p0 bra L;
"""

#: Each lane reads n elements of 256 KiB, spread by a linear congruence.
GATHER = """mad.lo.s32 %r20, %r2, 747796405, 12345;
mov.f32 %f0, 0f00000000;
mov.u32 %r21, 0;
L:
mad.lo.s32 %r20, %r20, 1664525, 1013904223;
shr.u32 %r22, %r20, 16;
mul.wide.u32 %d4, %r22, 4;
add.s64 %d5, %d1, %d4;
ld.global.f32 %f1, [%d5];
add.f32 %f0, %f0, %f1;
add.s32 %r21, %r21, 1;
setp.lt.s32 %p0, %r21, %r0;
@%p0 bra L;
"""

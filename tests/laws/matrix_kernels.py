"""Bodies of kernels on matrix units and asynchronous copies that laws are about (registers as `launches` opens them)."""

from __future__ import annotations

_AGAIN = "add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\n"
#: What the chains multiply: lane numbers and constants.
_OPERANDS = "".join(f"add.s32 %r{40 + k}, %r2, {k};\n" for k in range(8))


def _list(kind: str, first: int, count: int) -> str:
    return "{" + ", ".join(f"%{kind}{first + k}" for k in range(count)) + "}"


def _sums(count: int) -> str:
    """All accumulators into %f0."""
    return "".join(f"add.f32 %f0, %f0, %f{k};\n" for k in range(1, count))


def _zeros(count: int) -> str:
    return "".join(f"mov.f32 %f{k}, 0f00000000;\n" for k in range(count))


def register_chains(chains: int, each: int, sparse: bool = False, k: int = 16) -> str:
    """n rounds of products of 16 x 8 x `k` out of registers: `each` one behind the other, in each of `chains` independent chains."""
    opcode = f"mma.sp::ordered_metadata.sync.aligned.m16n8k{k}" if sparse else f"mma.sync.aligned.m16n8k{k}"
    a, b = _list("r", 40, (k // 4) >> sparse), _list("r", 44, k // 8)
    places = ", %r48, 0x0" if sparse else ""
    text = _zeros(4 * chains) + _OPERANDS + "mov.u32 %r48, 0x44444444;\nmov.u32 %r21, 0;\nL:\n"
    for index in range(chains * each):
        c = _list("f", 4 * (index % chains), 4)
        text += f"{opcode}.row.col.f32.f16.f16.f32 {c}, {a}, {b}, {c}{places};\n"
    return text + _AGAIN + _sums(4 * chains)


GROUP_LOCAL = ".shared .align 1024 .b8 tile[32768];\n"


def group_chain(elements: str = "f16", columns: int = 128, each: int = 4, sparse: bool = False, registers: bool = False) -> str:
    """n rounds of `each` products of 64 rows by `columns`, all of four waves, one behind the other.

    The right operand lies in local memory, the left one as well or in `registers`.
    """
    depth = {"f16": 16, "e4m3": 32}[elements] << sparse
    c = _list("f", 0, columns // 2)
    transposed = ("" if registers else ", 0") + ", 0" if elements == "f16" else ""
    left = _list("r", 40, 4) if registers else "%d2"
    opcode = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{columns}k{depth}.f32.{elements}.{elements}"
    places = ", %r48, 0" if sparse else ""
    text = _zeros(columns // 2) + _OPERANDS + "mov.u32 %r48, 0x44444444;\nsetp.ne.b32 %p1, 1, 0;\nmov.u32 %r12, tile;\n"
    # rows of 128 bytes in groups of 8, swizzled
    text += "cvt.u64.u32 %d2, %r12;\nshr.u64 %d2, %d2, 4;\nor.b64 %d2, %d2, 0x4000004000010000;\nadd.s64 %d3, %d2, 1024;\n"
    text += "mov.u32 %r21, 0;\nL:\nwgmma.fence.sync.aligned;\n"
    text += f"{opcode} {c}, {left}, %d3{places}, %p1, 1, 1{transposed};\n" * each
    text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" + _AGAIN
    return text + _sums(columns // 2)


CHUNK = 8192
SHARED_LOCAL = f".shared .align 128 .b8 tile[{CHUNK}];\n.shared .align 8 .b64 full;\n"


def shared_stream(cluster: int, multicast: bool) -> str:
    """Each workgroup of a cluster needs n chunks of `CHUNK` bytes, the same: each copies its share to all, or all for itself."""
    share = CHUNK // cluster if multicast else CHUNK
    sent = ".multicast::cluster" if multicast else ""
    to_all = f", {hex((1 << cluster) - 1)}" if multicast else ""
    mine = f"mul.lo.s32 %r13, %r12, {share if multicast else 0};\n"
    return f"""mov.u32 %r12, %cluster_ctarank;
{mine}mov.u32 %r14, tile;
add.s32 %r14, %r14, %r13;
mov.u32 %r15, full;
setp.eq.s32 %p1, %r1, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r15], 1;
@%p1 fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r16, %clusterid.x;
mul.lo.s32 %r16, %r16, %r0;
mul.wide.u32 %d2, %r16, {CHUNK};
add.s64 %d2, %d1, %d2;
cvt.u64.u32 %d3, %r13;
add.s64 %d2, %d2, %d3;
mul.lo.s32 %r17, %r1, 4;
mov.u32 %r18, tile;
add.s32 %r17, %r17, %r18;
mov.f32 %f0, 0f00000000;
mov.u32 %r21, 0;
L:
@!%p1 bra W;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r15], {CHUNK};
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{sent} [%r14], [%d2], {share}, [%r15]{to_all};
W:
and.b32 %r19, %r21, 1;
T:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r15], %r19;
@!%p2 bra T;
ld.shared.f32 %f1, [%r17];
add.f32 %f0, %f0, %f1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
add.s64 %d2, %d2, {CHUNK};
{_AGAIN}"""

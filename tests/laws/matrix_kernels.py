"""Bodies of kernels on matrix units and asynchronous copies that laws are about (registers as `launches` opens them)."""

from __future__ import annotations

from archex.suite.bodies import AGAIN, GROUP_LOCAL, group_chain, register_chains

__all__ = ["CHUNK", "GROUP_LOCAL", "SHARED_LOCAL", "group_chain", "register_chains", "shared_stream"]
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
{AGAIN}"""

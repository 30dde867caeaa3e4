"""Profiler metric of each column of cuda_kernels.csv and extra_counters.csv (x_*).

In: optionally the list of metrics the profiler knows. Out: the names, joined by commas."""

import sys
from pathlib import Path

STALLS = (
    "long_scoreboard short_scoreboard math_pipe_throttle barrier mio_throttle lg_throttle wait not_selected "
    "selected no_instruction dispatch_stall drain membar gmma misc branch_resolving sleeping imc_miss "
).split()
COLUMNS = {
    "cycles": ["sm__cycles_elapsed.max"],
    "duration_ns": ["gpu__time_duration.sum"],
    "warp_instructions": ["smsp__inst_executed.sum"],
    "thread_instructions": ["smsp__thread_inst_executed.sum"],
    "occupancy_pct": ["sm__warps_active.avg.pct_of_peak_sustained_active"],
    "dram_read_bytes": ["dram__bytes_read.sum"],
    "dram_write_bytes": ["dram__bytes_write.sum"],
    "l1_hit_pct": ["l1tex__t_sector_hit_rate.pct"],
    "l2_hit_pct": ["lts__t_sector_hit_rate.pct"],
    "l2_read_sectors": ["lts__t_sectors_op_read.sum"],
    "l2_write_sectors": ["lts__t_sectors_op_write.sum"],
    "global_load_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "global_load_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "global_store_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "global_store_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "local_load_requests": ["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"],
    "local_store_requests": ["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"],
    "shared_bank_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
    "shared_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
    "issue_active_pct": ["smsp__issue_active.avg.pct_of_peak_sustained_active"],
    "tensor_active_pct": ["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"],
    "fma_active_pct": ["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"],
    "dram_busy_pct": ["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
    "pipe_alu": ["sm__inst_executed_pipe_alu.sum"],
    "pipe_fma": ["sm__inst_executed_pipe_fma.sum"],
    "pipe_fp64": ["sm__inst_executed_pipe_fp64.sum"],
    "pipe_xu": ["sm__inst_executed_pipe_xu.sum"],
    "pipe_lsu": ["sm__inst_executed_pipe_lsu.sum"],
    "pipe_uniform": ["sm__inst_executed_pipe_uniform.sum"],
    "pipe_tensor": ["sm__inst_executed_pipe_tensor.sum"],
    "pipe_cbu": ["sm__inst_executed_pipe_cbu.sum"],
    "x_atom_local": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
    "x_l1_atom_wave": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"],
    "x_lts_atom": ["lts__t_sectors_op_atom.sum"],
    "x_lts_red": ["lts__t_sectors_op_red.sum"],
    "x_red": ["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"],
    "x_atom": ["l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"],
    "x_atom_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"],
    "x_red_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"],
}
for s in STALLS:
    COLUMNS["stall_" + s] = [f"smsp__average_warps_issue_stalled_{s}_per_issue_active.ratio"]
if __name__ == "__main__":
    known = {line.split()[0] for line in Path(sys.argv[1]).read_text().splitlines() if line.strip()} if len(sys.argv) > 1 else None
    names = [n for c in COLUMNS.values() for n in c]
    if known and len(known) > 200:
        missing = [n for n in names if n.split(".")[0] not in known]
        print("not known:", missing, file=sys.stderr)
        names = [n for n in names if n not in missing]
    print(",".join(names))

"""The interpreter: workgroups executed lane by lane with real addresses, compiled or not from one source.

encode*      an `ir.Function` and a launch -> flat tables (`table.py` numbers their columns)
workgroups   slots of wave contexts: begin, run, barriers; `waves` one wave's blocks, divergence, trace entries
compute      operations in registers: `rows` (whole rows at once), `*_lane` (everything else, lane by lane), `cross_lane`
access       addresses observed, checked, recorded; `transfer` moves the data; `memory` computes what buffers hold; `atomics`
matrix*      products of small matrices: `layout` which lane holds which element, `plan` what is common to a product, `sum` the sums
machine      the arrays; `faults` what went wrong, in words; `control_slice` the less that counting needs

Everything compiled works on flat int64 arrays by address (`base.jit.pointer`): no reference counts, no negative indices, and large
functions are compiled apart (`base.jit.outlined`), or the cold compile would take twice as long.
"""

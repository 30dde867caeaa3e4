"""What the parts of a compute unit keep: those that execute, registers, code and the unit itself."""

from __future__ import annotations

from archex.assembly import assemble
from archex.base.errors import UnsupportedError
from archex.describe import occupancy
from archex.lowering import lower, unroll
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.programs.build import load_function
from archex.testing.contracts.part import PartContract
from archex.testing.launches import exercise


class UnitContract(PartContract):
    """Pipes exist, operations are known, and what holds a pipe longer or answers later never helps."""

    def test_operations_run_on_pipes_of_the_device(self) -> None:
        device = assemble(self.described())
        for name in self.made().operations:
            assert name in MACHINE_OPERATIONS, name
            assert 0 <= device.timings[name].pipe < len(device.pipes), name


class SimdContract(UnitContract):
    """An instruction is never ready before its latency, and a pipe never takes two within its interval."""

    places = ("simd",)
    costs = (
        "operations.*.interval", "operations.*.latency", "operations.fma_f32.interval", "operations.fma_f32.latency", "guard_extra",
        "queued_extra", "wave_interval", "branch_taken", "branch_not_taken", "branch_interval", "divergence",
    )  # fmt: skip


class ScalarUnitContract(UnitContract):
    """As a SIMD's pipes, for what is the same in all lanes."""

    places = ("scalar_unit",)
    costs = ("operations.*.interval", "operations.*.latency")


class SpecialFunctionUnitContract(UnitContract):
    """As a SIMD's pipes, for special functions."""

    places = ("special_function_unit",)
    costs = ("operations.*.interval", "operations.*.latency")


class MatrixUnitContract(PartContract):
    """Every shape becomes a machine operation with its costs; a sparse shape does twice the products for the same operands."""

    places = ("matrix_unit",)
    program = "products"
    costs = ("shapes.*.interval", "shapes.*.least", "shapes.*.latency")

    def test_every_shape_holds_the_unit(self) -> None:
        for name, shape in self.made().shapes.items():
            assert shape.interval > 0, name
            assert max(shape.interval, shape.least) * (shape.n_most or shape.n) // shape.n >= shape.interval, name

    def test_a_sparse_shape_sums_twice_as_many_products(self) -> None:
        shapes = self.made().shapes.values()
        for sparse in (shape for shape in shapes if shape.sparse):
            same = ("m", "n", "elements", "accumulators", "source")
            dense = [s for s in shapes if not s.sparse and all(getattr(s, field) == getattr(sparse, field) for field in same)]
            assert all(sparse.k in (shape.k, 2 * shape.k) for shape in dense), "the zeros count"


class InstructionSetContract(PartContract):
    """A program becomes machine code: every step is an operation that some unit of the device carries out."""

    places = ("instruction_set",)

    def test_code_is_made_of_operations_with_timings(self) -> None:
        device = assemble(self.described())
        function = unroll(load_function(exercise().ptx, "exercise"), device.instruction_set)
        code = lower(function, device.instruction_set, device.timings, device.spec["register_file"].most)
        used = {name for block in code.operations for name in block}
        assert used <= set(device.timings)
        assert {"load_global", "store_global", "barrier", "exit"} <= used
        assert code.code_bytes == len(code.code) * self.made().instruction_bytes

    def test_fewer_registers_spill_or_are_refused(self) -> None:
        """Values that find no register go to private memory: more instructions, the registers kept to."""
        device = assemble(self.described())
        function = unroll(load_function(exercise().ptx, "exercise"), device.instruction_set)
        plenty = lower(function, device.instruction_set, device.timings, device.spec["register_file"].most)
        tight = lower(function, device.instruction_set, device.timings, 14 + self.made().reserved_registers)
        assert tight.registers_per_thread <= plenty.registers_per_thread
        assert len(tight.code) >= len(plenty.code)


class ComputeUnitContract(PartContract):
    """More units, queue entries or room never slow a device down; later barriers, fences and issue never speed it up."""

    places = ("compute_unit",)
    costs = ("barrier_base", "barrier_wave", "fence_workgroup", "fence_device", "issue_period")
    gains = ("clock", "count", "memory_queue", "waves", "workgroups", "issue_width")

    def test_a_workgroup_too_large_is_unsupported(self) -> None:
        said = ""
        try:
            occupancy(self.described(), self.made().workgroup_threads + 1, 16, 0)
        except UnsupportedError as error:
            said = error.reason
        assert "threads" in said, "it must be refused with the number"

"""What each standard launch costs at least, on any device: its law.

In: a launch of the suites `standard` and `long` (its arguments say how large it is). Out: a `Law`: bytes that must come from memory
and reach it, operations, and, where the addresses have a closed form, the bytes of whole sectors that its waves touch. A simulated
row that falls below one of these is wrong, whatever the device; `docs/suite` explains each.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from archex.suite.launch import Launch

_FLOAT, _HALF = 4, 2


@attrs.frozen
class Law:
    """Of one launch, cold caches.

    read: bytes that memory must deliver. written: bytes of results, which memory gets but for what caches keep. flops: operations.
    loaded, stored: bytes of the sectors that global loads and stores touch, each wave-instruction for itself; None where they depend
    on the data or on the shape of waves. steps: loads that wait for each other. products: multiply-adds that matrix units do.
    """

    read: float
    written: float
    flops: float = 0
    loaded: float | None = None
    stored: float | None = None
    steps: int = 0
    products: float = 0


def law(launch: Launch) -> Law | None:
    """The law of a launch, by its id; None where there is none (a launch of another suite)."""
    found = LAWS.get(launch.id.partition("[")[0])
    return found(_numbers(launch)) if found else None


def _numbers(launch: Launch) -> list[int]:
    """Whole numbers among the arguments, of a sequence those of all steps; behind them the first grid's workgroups and threads.

    Where the alternatives have nothing in common, the first stands for all.
    """
    if launch.variants and not launch.ptx.name:
        launch = launch.variants[0].launch
    first = launch.steps[0]
    groups, threads = (a[0] * a[1] * a[2] for a in (first.grid, first.block))
    given = [argument for step in launch.steps for argument in step.arguments if argument.kind == "i32"]
    return [int(str(argument.value)) for argument in given] + [groups, groups * threads]


def _stream(reads: int, writes: int, flops: int = 0) -> Callable[[list[int]], Law]:
    """n elements: so many bytes of each are read and written, every line whole."""
    return lambda v: Law(reads * v[0], writes * v[0], flops * v[0], reads * v[0], writes * v[0])


def _rows(element: int, lanes: int, weights: bool, flops: int) -> Callable[[list[int]], Law]:
    """Rows of `each` vectors of `lanes` elements, read twice, the second time from a cache; a row of weights for all."""

    def found(v: list[int]) -> Law:
        each, rows = v[0], v[-2]
        row = each * lanes * element
        return Law(rows * row + weights * row, rows * row, flops * rows * each * lanes, (2 + weights) * rows * row, rows * row)

    return found


def _layernorm_unfused(v: list[int]) -> Law:
    each, rows = v[0], v[-2]
    row = each * 4 * _FLOAT
    return Law(rows * row + row, rows * row, 9 * rows * each * 4, 4 * rows * row, 2 * rows * row)


def _bias_gelu(passes: int) -> Callable[[list[int]], Law]:
    """A matrix and a row of biases; what is between two passes may stay in a cache."""

    def found(v: list[int]) -> Law:
        each, threads = v[0], v[-1]
        whole, row = threads * 4 * _FLOAT, each * 4 * _FLOAT
        return Law(whole + row, whole, 9 * threads * 4, (1 + passes) * whole, passes * whole)

    return found


def _transpose(v: list[int]) -> Law:
    whole = v[0] * v[0] * _FLOAT
    return Law(whole, whole, 0, whole, whole)


def _product(v: list[int]) -> Law:
    m, n, k = v[:3]
    return Law((m * k + k * n) * _FLOAT, m * n * _FLOAT, 2 * m * n * k)


def _gemv(v: list[int]) -> Law:
    rows, each = v[:2]
    return Law((rows + 1) * each * 16, rows * _FLOAT, 16 * rows * each, 2 * rows * each * 16)


def _spmv(v: list[int]) -> Law:
    """16 elements a row; starts, columns, values and the vector once."""
    rows = v[0]
    return Law((rows + 2 * 16 * rows + rows) * _FLOAT, rows * _FLOAT, 2 * 16 * rows)


def _stencil(dimensions: int, flops: int) -> Callable[[list[int]], Law]:
    """All points once, the corners of the border aside; the inner points are written."""

    def found(v: list[int]) -> Law:
        inner = (v[0] - 2) ** dimensions
        return Law(_FLOAT * inner, _FLOAT * inner, flops * inner)

    return found


def _in_flight(v: list[int]) -> Law:
    return Law(16 * v[0], _FLOAT * v[-1], 4 * v[0], 16 * v[0], _FLOAT * v[-1])


def _scan(v: list[int]) -> Law:
    """Read, written, read from a cache and written again."""
    return Law(16 * v[0], 16 * v[0], 8 * v[0])


def _spill(v: list[int]) -> Law:
    elements, turns, threads = v[0], v[1], v[-1]
    return Law(_FLOAT * elements, _FLOAT * min(elements, threads), 96 * (2 * turns + 1) * threads)


def _matrix_product(left: float, right: int, result: int) -> Callable[[list[int]], Law]:
    """Bytes an element of the two factors and of the result."""

    def found(v: list[int]) -> Law:
        m, n, k = v[:3]
        return Law(m * k * left + k * n * right, m * n * result, 2 * m * n * k, products=m * n * k)

    return found


def _sparse_product(v: list[int]) -> Law:
    """Half of the left matrix is stored, with two bits for each element that is; half of the operations are done."""
    m, n, k = v[:3]
    return attrs.evolve(_matrix_product(_HALF / 2 + 1 / 8, _HALF, _FLOAT)(v), flops=m * n * k)


def _attention(v: list[int]) -> Law:
    """Heads 64 wide; a workgroup takes 64 queries. Scores never reach memory."""
    tokens, groups = v[0], v[-2]
    elements, pairs = groups * 64 * 64, groups * 64 * tokens
    return Law(3 * _HALF * elements, _HALF * elements, 4 * 64 * pairs, products=2 * 64 * pairs)


def _decode(v: list[int]) -> Law:
    """A query and its keys and values, 128 wide."""
    tokens, splits, groups = v[0], v[-3], v[-2]
    queries = groups // splits
    return Law(_HALF * 128 * queries * (1 + 2 * tokens), _FLOAT * 128 * queries, 4 * 128 * queries * tokens)


def _convolution(element: int, kernels: int | None) -> Callable[[list[int]], Law]:
    """3 x 3, padded: the input and the weights once. `kernels`: channels out of a workgroup, where no argument says how many there are."""

    def found(v: list[int]) -> Law:
        channels, height, width = v[:3]
        out = v[3] if kernels is None else kernels * v[-2] // (-(-width // 32) * -(-height // 8))
        made, each = out * height * width, channels * 9
        moved = Law(element * (channels * height * width + each * out), _FLOAT * made, 2 * made * each)
        return attrs.evolve(moved, products=made * each) if kernels is None else moved

    return found


LAWS: dict[str, Callable[[list[int]], Law]] = {
    "copy": _stream(16, 16),
    "triad": _stream(32, 16, 8),
    # A word of every 64 bytes: memory delivers 32 of them at least.
    "strided": lambda v: Law(32 * v[0], _FLOAT * v[0], stored=_FLOAT * v[0]),
    "gather": lambda v: Law(_FLOAT * v[0], _FLOAT * v[0], stored=_FLOAT * v[0]),
    "array_of_structs": lambda v: Law(32 * v[0], _FLOAT * v[0], 2 * v[0], 3 * 32 * v[0], _FLOAT * v[0]),
    "struct_of_arrays": _stream(12, 4, 2),
    "in_flight_1": _in_flight,
    "in_flight_4": _in_flight,
    "reduce": lambda v: Law(16 * v[0], 0, 4 * v[0], 16 * v[0]),
    "softmax": _rows(_HALF, 8, False, 5),
    "rmsnorm": _rows(_HALF, 8, True, 4),
    "layernorm_dropout": _rows(_FLOAT, 4, True, 9),
    "layernorm_dropout_unfused": _layernorm_unfused,
    "bias_gelu": _bias_gelu(1),
    "bias_gelu_unfused": _bias_gelu(2),
    "transpose_naive": lambda v: attrs.evolve(_transpose(v), stored=None),
    "transpose_padded": _transpose,
    "transpose_swizzled": _transpose,
    "sgemm_naive": _product,
    "sgemm_tiled": _product,
    "sgemm_register": _product,
    "gemv": _gemv,
    "spmv_scalar": _spmv,
    "spmv_vector": _spmv,
    "stencil2d": _stencil(2, 5),
    "stencil3d": _stencil(3, 7),
    "histogram": lambda v: Law(16 * v[0], 0, 0, 16 * v[0]),
    "scan": _scan,
    "atomics": lambda v: Law(0, 0, v[0]),
    "divergence": lambda v: Law(_FLOAT * v[0], _FLOAT * v[0], 64 * v[0], _FLOAT * v[0], _FLOAT * v[0]),
    "spill": _spill,
    "chase": lambda v: Law(0, 0, steps=v[0]),
    "chase_near": lambda v: Law(0, 0, steps=v[0]),
    "chase_l2": lambda v: Law(0, 0, steps=v[0]),
    "chase_memory": lambda v: Law(32 * v[0], 0, steps=v[0]),
    "tensor_gemm_2": _matrix_product(_HALF, _HALF, _FLOAT),
    "tensor_gemm_3": _matrix_product(_HALF, _HALF, _FLOAT),
    "tensor_gemm_4": _matrix_product(_HALF, _HALF, _FLOAT),
    "matmul_64": _matrix_product(_HALF, _HALF, _HALF),
    "matmul_128": _matrix_product(_HALF, _HALF, _HALF),
    "fp8_gemm": _matrix_product(1, 1, _FLOAT),
    "sparse_gemm": _sparse_product,
    "dense_gemm": _matrix_product(_HALF, _HALF, _FLOAT),
    "attention": _attention,
    "decode_attention": _decode,
    "paged_decode": lambda v: _decode([16 * v[1], *v[2:]]),
    "convolution_nchw": _convolution(_FLOAT, 4),
    "convolution_nhwc": _convolution(_HALF, None),
}

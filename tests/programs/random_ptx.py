"""Random PTX bodies: integers of 32 and 64 bits, predicates, guards, branches, counted loops, memory of all kinds."""

from __future__ import annotations

from random import Random


class Writer:
    """Writes statements over a few registers, so that values meet, die and are overwritten often."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = [f"mov.u32 %r{i}, {self.random.choice(('%tid.x', '%ctaid.x', str(i * 7)))};" for i in range(6)]
        self.lines += [f"cvt.u64.u32 %rd{i}, %r{i};" for i in range(4)] + ["ld.param.u64 %rd0, [out];", "ld.param.u32 %r0, [n];"]
        self.lines += [f"setp.lt.s32 %p{i}, %r{i}, {i * 9};" for i in range(3)]
        if self.random.random() < 0.9:  # else they are read before anybody wrote them
            self.lines += ["mov.b32 %f1, %r3;", "setp.eq.s32 %p4, %r1, 7;"]
        self.labels = 0

    def word(self) -> str:
        return f"%r{self.random.randrange(6)}"

    def long(self) -> str:
        return f"%rd{self.random.randrange(4)}"

    def predicate(self) -> str:
        return f"%p{self.random.randrange(3)}"

    def source(self) -> str:
        return self.word() if self.random.random() < 0.7 else str(self.random.choice((0, 1, 2, 4, 8, 31, -1, 255, 0x7FFFFFFF)))

    def wide_source(self) -> str:
        return self.long() if self.random.random() < 0.7 else str(self.random.choice((0, 1, 4, 16, -8, 1 << 33)))

    def guard(self) -> str:
        return self.random.choice(("", "", "", f"@{self.predicate()} ", f"@!{self.predicate()} "))

    def plain(self) -> str:
        w, d, p = self.word, self.long, self.predicate
        r = self.random
        forms = [
            lambda: f"{r.choice(('add', 'sub', 'min', 'max'))}.{r.choice(('s32', 'u32'))} {w()}, {self.source()}, {self.source()};",
            lambda: f"{r.choice(('and', 'or', 'xor'))}.b32 {w()}, {w()}, {self.source()};",
            lambda: f"{r.choice(('shl.b32', 'shr.u32', 'shr.s32'))} {w()}, {w()}, {r.choice((0, 1, 3, 31, 40))};",
            lambda: f"mul.lo.s32 {w()}, {w()}, {self.source()};",
            lambda: f"mad.lo.s32 {w()}, {w()}, {self.source()}, {self.source()};",
            lambda: f"mul.wide.{r.choice(('s32', 'u32'))} {d()}, {w()}, {self.source()};",
            lambda: f"cvt.s64.s32 {d()}, {w()};",
            lambda: f"cvt.u64.u32 {d()}, {w()};",
            lambda: f"cvt.u32.u64 {w()}, {d()};",
            lambda: f"cvt.s32.s8 {w()}, {w()};",
            lambda: f"{r.choice(('add', 'sub'))}.s64 {d()}, {d()}, {self.wide_source()};",
            lambda: f"mul.lo.s64 {d()}, {d()}, {self.wide_source()};",
            lambda: f"shl.b64 {d()}, {d()}, {r.choice((1, 2, 4, 33))};",
            lambda: f"mov.u32 {w()}, {self.source()};",
            lambda: f"mov.u64 {d()}, {self.wide_source()};",
            lambda: f"not.b32 {w()}, {w()};",
            lambda: f"neg.s32 {w()}, {w()};",
            lambda: f"bfe.u32 {w()}, {w()}, {r.choice((0, 4))}, {r.choice((4, 28, 32))};",
            lambda: f"div.u32 {w()}, {w()}, {r.choice((1, 2, 8))};",
            lambda: f"setp.{r.choice(('lt', 'ge', 'eq', 'ne'))}.{r.choice(('s32', 'u32'))} {p()}, {self.source()}, {self.source()};",
            lambda: f"mov.b32 %f1, {w()}; setp.{r.choice(('lt', 'geu', 'eq', 'neu', 'num'))}.f32 {p()}, %f1, 0f3F800000;",
            lambda: f"{r.choice(('and', 'or', 'xor'))}.pred {p()}, {p()}, {p()};",
            lambda: f"not.pred {p()}, {p()};",
            lambda: f"selp.b32 {w()}, {self.source()}, {self.source()}, {p()};",
            lambda: f"selp.u32 {w()}, 1, 0, {p()};",
            lambda: f"mov.b64 {d()}, {{{w()}, {w()}}};",
            lambda: f"mov.b64 {{%r1, %r2}}, {d()};",
            lambda: f"ld.global.u32 {w()}, [{d()}+{r.choice((0, 4, -8))}];",
            lambda: f"ld.shared.u32 {w()}, [{w()}+{r.choice((0, 4))}];",
            lambda: f"st.global.u32 [{d()}+{r.choice((0, 4))}], {w()};",
            lambda: f"st.shared.u32 [{w()}], {self.source()};",
            lambda: f"atom.global.add.u32 {w()}, [{d()}], {w()};",
            lambda: f"ld.param.u32 {w()}, [n];",
        ]
        return r.choice(forms)()

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def block(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 6)):
            kind = self.random.random()
            if depth and kind < 0.18:
                self.choice(depth)
            elif depth and kind < 0.26:
                self.loop(depth)
            elif depth and kind < 0.3:
                self.chain()
            elif kind < 0.31:
                self.lines.append(f"{self.guard() or '@%p1 '}ret;")
            else:
                self.lines.append(self.guard() + self.plain())

    def chain(self) -> None:
        """Two branches to one place with a comparison between them."""
        behind = self.label()
        mode = self.random.choice(("lt.s32 %p4, %r1, %r2", "ge.u32 %p4, %r1, 7", "gt.f32 %p4, %f1, %f1"))
        self.lines += [f"@{self.random.choice(('', '!'))}{self.predicate()} bra {behind};", f"setp.{mode};"]
        self.lines += [f"@{self.random.choice(('', '!'))}%p4 bra {behind};"]
        self.block(0)
        self.lines += [f"{behind}:"]

    def choice(self, depth: int) -> None:
        other, behind = self.label(), self.label()
        self.lines.append(f"@{self.random.choice(('', '!'))}{self.predicate()} bra {other};")
        self.block(depth - 1)
        if self.random.random() < 0.5:
            self.lines.append(f"{other}:")
            return
        self.lines += [f"bra {behind};", f"{other}:"]
        self.block(depth - 1)
        self.lines.append(f"{behind}:")

    def loop(self, depth: int) -> None:
        top, counter = self.label(), f"%r{20 + depth}"
        self.lines += [f"mov.u32 {counter}, 0;", f"{top}:"]
        self.block(depth - 1)
        self.lines += [
            f"add.s32 {counter}, {counter}, 1;",
            f"setp.lt.s32 %p8, {counter}, {self.random.randrange(1, 4)};",
            f"@%p8 bra {top};",
        ]


def body(seed: int) -> str:
    """A body that ends by storing every register."""
    writer = Writer(seed)
    for _ in range(3):
        writer.block(3)
    writer.lines += [f"st.global.u32 [%rd0+{4 * i}], %r{i};" for i in range(6)] + [
        f"st.global.u64 [%rd0+{64 + 8 * i}], %rd{i};" for i in range(4)
    ]
    return "\n".join([*writer.lines, "ret;"])

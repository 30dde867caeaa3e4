"""Instructions PTX has and nobody here models: refused by name, unlike words that are no instructions."""

from __future__ import annotations

from archex.programs.ptx.translate.context import Context, translates

_NAMES = """tex tld4 txq suld sust sured suq istypep alloca stacksave stackrestore szext bmsk64 tensormap multimem
    clusterlaunchcontrol tcgen05 st_async red_async mapa_shared vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2
    vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4""".split()


@translates(*_NAMES)
def refuse(ctx: Context) -> None:
    raise ctx.unsupported()

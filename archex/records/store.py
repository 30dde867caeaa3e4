"""Rows on disk, read and written whole.

In: rows (`schema.row`), or the path of a Parquet file or of a run's folder. Out: a file, or a frame of rows in the order they were written.
A folder is read as it stands, while a run writes it too: shards and journals together, one row a design and launch.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from archex.base.errors import ABSENT, Problem, RequestError
from archex.records import journal, schema
from archex.records.files import replace

if TYPE_CHECKING:
    import polars

SHARD_ROWS = 1000
#: What a row's result may be for it not to be worth another try.
GOOD = ("ok", "unsupported")


def frame(rows: Sequence[dict[str, Any]]) -> polars.DataFrame:
    """Rows as a frame."""
    import polars

    return polars.DataFrame(list(rows), schema=schema.polars_schema())


def write_file(rows: Sequence[dict[str, Any]] | polars.DataFrame, path: Path, provenance: dict[str, str] | None = None) -> None:
    """All rows as one file; OutputError leaves neither it nor a temporary one behind (an older file stays as it was)."""
    import polars

    content = io.BytesIO()  # in memory first: polars' own words for a full disk name neither the disk nor the file
    found = rows if isinstance(rows, polars.DataFrame) else frame(rows)
    found.write_parquet(content, metadata=dict(provenance or {}))
    replace(path, content.getbuffer())


def shards(folder: Path) -> list[Path]:
    """A dataset's Parquet files, in the order they were written."""
    return sorted(folder.glob("*.parquet"))


def _say(note: str) -> None:
    print(f"archex: {note}", file=sys.stderr)


def read(path: Path, note: Callable[[str], None] = _say) -> polars.DataFrame:
    """A file or a dataset as one frame with every column of the schema. In a dataset a file that does not read is noted and left out;
    RequestError if nothing reads."""
    import polars

    if not path.exists():
        raise RequestError([Problem(str(path), ABSENT, "does not exist; expected a Parquet file or the folder of a run")])
    if not path.is_dir():
        try:
            return _read(path)
        except (OSError, ValueError) as error:
            raise RequestError([Problem(str(path), ABSENT, _torn(error))]) from None
    problems: list[Problem] = []
    # Journals first: rows that become a shard meanwhile are read twice, not never.
    fresh = _all(journal.journals(path), problems)
    frames = [*_all(shards(path), problems), *fresh]
    if not frames:
        raise RequestError(problems or [Problem(str(path), ABSENT, "holds no rows (no *.parquet file)")])
    for problem in problems:
        note(f"{problem}; left out")
    return latest(polars.concat(frames))


def _all(files: Sequence[Path], problems: list[Problem]) -> list[polars.DataFrame]:
    """Those that read; what is wrong with the others goes to `problems`."""
    found = []
    for file in files:
        try:
            found.append(_read(file))
        except FileNotFoundError:
            continue  # a journal whose rows have just gone into a shard
        except (OSError, ValueError) as error:
            problems.append(Problem(str(file), ABSENT, _torn(error)))
    return found


def torn(path: Path) -> str | None:
    """What is wrong with a file of rows; None if it reads."""
    try:
        _read(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return _torn(error)
    return None


def foreign(path: Path) -> Problem | None:
    """Why a run's one file can't go to `path`: something else is there."""
    if path.suffix == ".parquet" and path.is_file() and torn(path):
        return Problem("output", str(path), "is there already and holds no rows of archex: nothing is written over it")
    return None


def _torn(error: Exception) -> str:
    return f"is torn or no file of rows: {str(error).splitlines()[0]}"


def _read(file: Path) -> polars.DataFrame:
    import polars

    if file.suffix == ".jsonl":
        return frame(journal.read(file))
    try:
        found = polars.read_parquet(file.read_bytes())
    except polars.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    return conform(found)


def latest(found: polars.DataFrame) -> polars.DataFrame:
    """One row a point and launch: a result beats a failure, else the later stays. The order is kept."""
    import polars

    key = (polars.coalesce("point_id", polars.col("_at").cast(polars.String)), polars.col("launch"))
    numbered = found.with_row_index("_at").with_columns(key[0].alias("_point"), polars.col("status").is_in(GOOD).alias("_good"))
    if not numbered.select(polars.struct("_point", "launch").is_duplicated().any()).item():
        return found
    chosen = numbered.sort("_good", "_at").unique(["_point", "launch"], keep="last", maintain_order=True)
    return chosen.sort("_at").drop("_at", "_point", "_good")


def conform(found: polars.DataFrame) -> polars.DataFrame:
    """An older file's rows in today's columns: new ones null, unknown ones dropped. ValueError if it holds no rows of ours."""
    import polars

    missing = [name for name in ("launch", "device", "status") if name not in found.columns]
    if missing:
        raise ValueError(f"it lacks the columns {', '.join(missing)}")
    columns = [
        (polars.col(name) if name in found.columns else polars.lit(None)).cast(type_).alias(name)
        for name, type_ in schema.polars_schema().items()
    ]
    try:
        return found.select(columns)
    except polars.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None

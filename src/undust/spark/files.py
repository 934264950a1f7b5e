"""Files in and out of Spark tasks: each task reads pieces of files by our own readers, and writes a part of a folder.

Paths are those of a file system that all machines share.
"""

import itertools
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from undust import corpus
from undust.corpus import Tally
from undust.errors import OutputError, UndustError, UsageError
from undust.spark.exchange import described, mapped, task
from undust.spark.wire import Work, from_wire

PIECE_BYTES = 64 * 2**20
"""About so much of a Parquet file is read by one task. Other formats have no place to begin at but the beginning."""

PIECES = pa.schema([("path", pa.string()), ("start", pa.int64()), ("stop", pa.int64())])
_WRITTEN = pa.schema([("part", pa.int32()), ("file", pa.string()), ("rows", pa.int64()), ("tally", pa.string())])


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or row groups `start` to `stop` of a Parquet file."""

    path: str
    start: int = 0
    stop: int = -1

    @property
    def whole(self) -> bool:
        """Whether it is all of the file."""
        return self.stop < 0


def list_files(inputs: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Give the files of inputs; a folder of Parquet parts, as Spark writes it, is all its parts."""
    found: list[str] = []
    for path in corpus.list_inputs(inputs):
        if path == "-":
            raise UsageError("-: Spark cannot read stdin; give files that all machines see")
        found += [str(Path(part).absolute()) for part in corpus.parts_of(path)]
    return found


def pieces_of(files: Iterable[str], *, cut: bool = True) -> list[Piece]:
    """Cut Parquet files into pieces between their row groups, about as large as `PIECE_BYTES`."""
    pieces: list[Piece] = []
    for path in files:
        if not cut or not _is_parquet(path):
            pieces.append(Piece(path))
            continue
        with pq.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups)]
        start, size = 0, 0
        for at, each in enumerate(sizes):
            size += each
            if size >= PIECE_BYTES or at == len(sizes) - 1:
                pieces.append(Piece(path, start, at + 1))
                start, size = at + 1, 0
    return pieces


def _is_parquet(path: str) -> bool:
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(4) == b"PAR1"


def read(session: Any, pieces: list[Piece], work: Work, made: pa.Schema) -> Any:
    """Run `work`, which reads the pieces that it is told of, in one task for each piece."""
    if not pieces:
        return session.createDataFrame([], _spark(made))
    rows = [(at, piece.path, piece.start, piece.stop) for at, piece in enumerate(pieces)]
    told = session.sparkContext.parallelize(rows, len(rows))
    frame = session.createDataFrame(told, "at int, path string, start long, stop long")
    return mapped(frame.select("path", "start", "stop"), work, made)


def _spark(schema: pa.Schema) -> Any:
    from undust.spark.wire import spark_schema

    return spark_schema(schema)


def told_pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
    """Give the pieces that a task is told of."""
    for batch in batches:
        for row in batch.to_pylist():
            yield Piece(row["path"], row["start"], row["stop"])


def row_groups(piece: Piece, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read some columns of a piece of a Parquet file."""
    with pq.ParquetFile(piece.path, pre_buffer=False) as file:
        groups = range(file.metadata.num_row_groups) if piece.whole else range(piece.start, piece.stop)
        yield from file.iter_batches(16_384, row_groups=list(groups), columns=columns, use_threads=False)


def require_parquet(target: str) -> None:
    """Refuse the name of an output that is no folder of Parquet parts, before anything is done for it."""
    if not target.endswith(".parquet"):
        raise UsageError(f"{target}: Spark writes folders of Parquet parts; choose a name that ends in .parquet")


def staging(target: str) -> Path:
    """Give the folder of an output, where what is on its way to it goes, too."""
    folder = Path(target).absolute().parent
    if not folder.is_dir():
        raise OutputError(f"{target}: cannot be written: no such folder; choose a folder that exists")
    return folder


def write(
    frame: Any, target: str, schema: pa.Schema, tally: Tally | None = None, check: Callable[[], None] = lambda: None
) -> int:
    """Write a folder of Parquet parts, one for each task, which is complete or absent; give how many rows it has.

    Tasks write into a folder beside it, each attempt under a name of its own. What attempts that failed or came second
    have left is taken away, and the folder is renamed when all parts are there. With a tally, the frame has a column of
    tallies (`pages`), which are added to it; `check` may refuse the result then.
    """
    require_parquet(target)
    final = Path(target).absolute()
    aside = final.parent / f".{final.name[:80]}.{secrets.token_hex(4)}.part"
    try:
        aside.mkdir()
    except OSError as error:
        raise _cannot(target, error) from error
    try:
        with described(frame.sparkSession, f"{final.name}, written"):
            found = mapped(frame, _writes(str(aside), schema, told=tally is not None), _WRITTEN).collect()
        if tally is not None:
            tally.merge(Tally.from_dict(json.loads(row["tally"])) for row in found)
        check()
        _keep({row["file"]: f"part-{row['part']:05d}.parquet" for row in found if row["file"]}, aside)
        if not any(aside.iterdir()):
            corpus.write_table(schema.empty_table(), aside / "part-00000.parquet")
        replace_folder(aside, final)
    except OSError as error:
        raise _cannot(target, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return sum(row["rows"] for row in found)


def replace_folder(aside: Path, final: Path) -> None:
    """Put a folder that is complete in its place; what was there is taken away after that."""
    if not final.exists():
        aside.rename(final)
        return
    old = aside.with_name(f"{aside.name}.old")
    final.rename(old)
    aside.rename(final)
    if old.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink()


def _keep(names: dict[str, str], folder: Path) -> None:
    for file in folder.iterdir():
        if file.name in names:
            file.rename(folder / names[file.name])
        else:
            file.unlink()
    missing = len(names) - sum(1 for _ in folder.iterdir())
    if missing:
        raise UndustError(f"{folder.name}: {missing} parts are not here; write where all machines see one file system")


def _cannot(target: str, error: OSError) -> OutputError:
    return OutputError(
        f"{target}: cannot be written: {error.strerror or error}; choose a folder that exists, has room and is yours"
    )


def _writes(folder: str, schema: pa.Schema, *, told: bool = False) -> Work:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from undust.spark.pages import without_tallies

        part, attempt = task()
        tally = Tally()
        made = (without_tallies(batch, schema, tally) if told else from_wire(batch, schema) for batch in batches)
        some = (batch for batch in made if len(batch))
        first, name, rows = next(some, None), "", 0
        if first is not None:
            name = f"{part:05d}-{attempt}.parquet"
            with corpus.TableWriter(f"{folder}/{name}", schema) as writer:
                for batch in itertools.chain([first], some):
                    writer.write(batch)
                    rows += len(batch)
        columns = [[part], [name], [rows], [json.dumps(tally.to_dict())]]
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, _WRITTEN, strict=True)], schema=_WRITTEN
        )

    return work

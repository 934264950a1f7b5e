"""Reads JSON lines: one object a line."""

from collections.abc import Iterator

import orjson
import pyarrow as pa

from undust.corpus import columns as cols
from undust.corpus.decompress import Plain
from undust.corpus.lines import line_blocks
from undust.corpus.reading import Reading
from undust.corpus.streams import Source
from undust.corpus.tally import Tally
from undust.errors import InputError

_NUMBERS_TOO = {"cluster", "status", "time", "importance", "inlinks"}


def read(source: Source, compression: str | None, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a file of JSON lines."""
    for batch in columns(source, compression, reading.tally, cols.NAMES, cols.require_page_columns):
        yield from cols.pages(batch, source.name, reading)


def columns(
    source: Source,
    compression: str | None,
    tally: Tally,
    known: dict[str, str],
    require: cols.Require,
) -> Iterator[cols.Columns]:
    """The known fields of the objects, some lines at a time; `require` says what the first lines must have."""
    seen: dict[str, None] = {}
    bad = 0
    for block in line_blocks(Plain(source, compression, tally), tally):
        rows = _Rows(known)
        for number, line in enumerate(block.data.split(b"\n"), block.line):
            if not line or line.isspace():
                continue
            problem = rows.add(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            if problem is not None:
                bad += 1
                tally.damage(source.name, problem, line=number)
        if not rows.count:
            continue
        if not seen:
            require(source.name, rows.fields, rows.names)
            seen = rows.names
        # Later lines may lack what the first ones had.
        if "url" in rows.values and not set(rows.values).isdisjoint(cols.CONTENT):
            yield rows.take()
        else:
            tally.skip("no URL" if "url" not in rows.values else "no content", rows.count)
    if not seen and bad > 1:  # a single line may be the beginning of a file that was cut
        raise InputError(f"{source.name}: no line of it is a JSON object; write one object on each line")


class _Rows:
    """Values of the known fields, as bytes, of the objects added."""

    def __init__(self, known: dict[str, str]) -> None:
        self.names: dict[str, None] = {}
        self.fields: set[str] = set()
        """The known ones that any object has, be it null."""
        self.values: dict[str, list[bytes | None]] = {}
        self.count = 0
        self._known = known

    def add(self, line: bytes) -> str | None:
        """Take one line; say what is wrong with it, if anything is."""
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            return f"not JSON ({error.msg})"
        if type(found) is not dict:
            return "not a JSON object"
        row: dict[str, bytes] = {}
        for name, value in found.items():
            ours = self._known.get(name) or self._known.get(name.lower())
            if len(self.names) < 64:
                self.names.setdefault(name)
            if ours is None:
                continue
            self.fields.add(ours)
            if value is None or ours in row:
                continue
            if type(value) is str:
                row[ours] = value.encode()
            elif ours in _NUMBERS_TOO and type(value) in (int, float):
                # 3.0 is how tables without null integers write 3.
                row[ours] = repr(int(value) if value == value // 1 and abs(value) < 2**53 else value).encode()
            else:
                return f"{name} is not a string"
        for name, value in row.items():
            column = self.values.get(name)
            if column is None:
                column = self.values[name] = [None] * self.count
            column.append(value)
        self.count += 1
        for column in self.values.values():
            if len(column) < self.count:
                column.append(None)
        return None

    def take(self) -> cols.Columns:
        """The columns of all objects added."""
        return {name: pa.array(column, pa.binary()) for name, column in self.values.items()}

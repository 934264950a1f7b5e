"""Cuts a stream into blocks of complete lines; lines that are too long are left out without being held."""

from collections.abc import Iterator
from dataclasses import dataclass

from undust import settings
from undust.corpus.batches import too_long
from undust.corpus.decompress import Plain
from undust.corpus.tally import Tally

BLOCK_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Block:
    """Some complete lines and the number of the first, counted from 1."""

    line: int
    data: bytes


def line_blocks(
    plain: Plain,
    tally: Tally,
    *,
    max_line_bytes: int = settings.MAX_LINE_BYTES,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Block]:
    """Blocks that end with a line's end; only the last may miss its newline.

    Where the stream was cut, half a line is left at its end: the damage is counted already, the half is dropped.

    >>> import io
    >>> from undust.corpus.streams import Source
    >>> plain = Plain(Source(io.BytesIO(b"a\\nbc\\nd"), "a", Tally(), seekable=True), None, Tally())
    >>> [(b.line, b.data) for b in line_blocks(plain, Tally(), block_bytes=4)]
    [(1, b'a\\nbc\\n'), (3, b'd')]
    """
    held: list[bytes] = []
    size = 0
    line = 1
    for piece in _without_long_lines(plain, tally, max_line_bytes):
        held.append(piece)
        size += len(piece)
        end = piece.rfind(b"\n") + 1
        if size < block_bytes or not end:
            continue
        held[-1] = piece[:end]
        data = b"".join(held)
        held = [piece[end:]]
        size = len(piece) - end
        yield Block(line, data)
        line += data.count(b"\n")
    data = b"".join(held)
    if plain.cut:
        data = data[: data.rfind(b"\n") + 1]
    if data:
        yield Block(line, data)


def _without_long_lines(plain: Plain, tally: Tally, limit: int) -> Iterator[bytes]:
    """The same bytes, but a line over the limit becomes an empty line, so that line numbers stay right."""
    open_bytes = 0  # of the line that the pieces so far have left open
    held: list[bytes] = []  # its pieces
    skipping = False
    for piece in plain:
        end = piece.find(b"\n")
        if end < 0:
            if skipping:
                continue
            held.append(piece)
            open_bytes += len(piece)
            if open_bytes > limit:
                tally.skip(too_long("line", limit))
                held, open_bytes, skipping = [], 0, True
            continue
        yield from held
        start = piece.rfind(b"\n") + 1
        yield piece[end if skipping else 0 : start]
        skipping = False
        held, open_bytes = [piece[start:]], len(piece) - start
    yield from held

"""Lines of text with a URL on each: normalized by the block, as many lines out as in."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from undust.urls.batch import NormalizedUrls, decode_urls, normalize_many


@dataclass(frozen=True, slots=True)
class NormalizedLines:
    """A block of lines after normalization; lines whose URL cannot be parsed stay as they were."""

    text: bytes
    lines: int
    unusable: int
    problems: list[tuple[int, str]]  # line of the block, from 0, and the reason, of the first of them


def normalize_lines(block: bytes, normalize: Callable[[pa.Array], NormalizedUrls] = normalize_many) -> NormalizedLines:
    """Normalize the URLs of whole lines; `block` ends with a line end. Blank lines stay blank.

    >>> normalize_lines(b"HTTP://h\\n\\nnothing\\n").text
    b'http://h/\\n\\nnothing\\n'
    """
    lines = pc.split_pattern(pa.array([block[:-1]], pa.binary()), "\n").values
    urls = decode_urls(lines)
    blank = pc.equal(pc.binary_length(pc.ascii_trim_whitespace(urls)), 0)
    urls = pc.if_else(blank, pa.scalar(None, pa.string()), urls)
    normal = normalize(urls)
    kept = pc.coalesce(normal.urls.combine_chunks().cast(pa.binary()), lines)
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(kept)], kept), b"\n")
    return NormalizedLines(joined[0].as_py() + b"\n", len(lines), normal.unusable, normal.problems)

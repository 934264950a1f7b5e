"""URLs in parts, by the column, while families of duplicates spell them in other ways."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.synth.words import joined

Rows = npt.NDArray[np.bool_]

FAMILIES = (
    "session",
    "path session",
    "index file",
    "trailing slash",
    "www",
    "scheme",
    "moved value",
    "mirror",
    "order",
    "repeated",
    "default",
    "segment",
    "deep token",
    "case",
    "tracking",
    "print",
    "redundant",
    "irrelevant",
    "empty",
    "sort",
    "escape",
    "extension",
    "alias",
    "double slash",
    "soft 404",
    "login",
    "calendar",
    "unknowable",
)
"""Why a URL is not the plain one of its page. The place of a name is its bit in the column `families`."""

BITS = {name: np.uint32(1 << place) for place, name in enumerate(FAMILIES)}


@dataclass(slots=True)
class Urls:
    """Columns that together spell URLs. A family changes some rows, and marks them."""

    section: str
    scheme: pa.StringArray
    host: pa.StringArray
    path: pa.StringArray
    params: pa.StringArray
    arguments: list[tuple[str, pa.StringArray]]
    """Names with their values, null where a URL does not have the argument."""
    families: npt.NDArray[np.uint32]
    shuffled: Rows
    """URLs whose arguments come in another order."""

    def __len__(self) -> int:
        return len(self.families)

    def mark(self, family: str, rows: Rows) -> None:
        """Note which URLs a family has changed."""
        self.families[rows] |= BITS[family]

    def set_path(self, rows: Rows, paths: "pa.StringArray | str") -> None:
        """Give some URLs another path."""
        self.path = pc.if_else(pa.array(rows), paths, self.path)

    def add(self, name: str, values: "pa.StringArray | str", rows: Rows) -> None:
        """Give some URLs an argument more, behind the others."""
        self.arguments.append((name, pc.if_else(pa.array(rows), values, pa.scalar(None, pa.string()))))

    def has_arguments(self, least: int = 1) -> Rows:
        """Tell which URLs have so many arguments."""
        counts = np.zeros(len(self), np.int32)
        for _, values in self.arguments:
            counts += values.is_valid().to_numpy(zero_copy_only=False)
        return np.asarray(counts >= least)

    def join(self, separator: str) -> pa.StringArray:
        """Spell the URLs out."""
        query = self._query(self.arguments, separator)
        if self.shuffled.any():
            other = self._query(self.arguments[::-1], separator)
            query = pc.if_else(pa.array(self.shuffled), other, query)
        return joined(self.scheme, "://", self.host, self.path, self.params, query)

    def _query(self, arguments: list[tuple[str, pa.StringArray]], separator: str) -> pa.StringArray:
        if not arguments:
            return pa.repeat("", len(self))
        written = [joined(separator, name, "=", values).fill_null("") for name, values in arguments]
        whole = joined(*written) if len(written) > 1 else written[0]
        behind = pc.utf8_slice_codeunits(whole, 1)
        return pc.if_else(pc.equal(whole, ""), "", joined("?", behind))

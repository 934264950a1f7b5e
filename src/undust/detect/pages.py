"""Pages to fingerprints: body digest, text, and the signatures of the text."""

import threading
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from undust.detect.exact import fingerprint_pages
from undust.detect.fingerprints import SIGNATURES, fingerprints, make_lexicon, schema
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.text import CONTENTS, TEXT_MODEL, extract
from undust.detect.topical_anchors import LINK_FIELDS, link_columns
from undust.detect.words_lexicon import Lexicon
from undust.errors import UsageError
from undust.tables import FINGERPRINTS

TEXT_FIELDS = (
    pa.field("title", pa.string()),
    pa.field("language", pa.string()),  # ISO 639-1, declared or detected
    pa.field("canonical", pa.string()),  # absolute URL of rel=canonical
)


@dataclass(frozen=True)
class PageFingerprints:
    """Makes fingerprints of batches of pages. One row depends on its page and on these settings only."""

    content: str = "all"
    """Which part of a page counts: `all` its text, or its `main` content only."""
    exact_only: bool = False
    """Digests of bodies, and nothing of the text."""
    parameters: SignatureParameters = field(default_factory=SignatureParameters)
    links: bool = False
    """Words of titles and around links, for anchor bags."""
    signatures: tuple[str, ...] = SIGNATURES
    """Which signatures to make of the text, for those who know what they need."""

    def __post_init__(self) -> None:
        if self.content not in CONTENTS:
            raise UsageError(f"unknown content {self.content!r}; one of {', '.join(CONTENTS)}")

    @cached_property
    def signature_parameters(self) -> SignatureParameters:
        """The parameters with how the text was made, as they are recorded with the signatures."""
        return replace(self.parameters, text_model=f"html {TEXT_MODEL} {self.content}")

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns of the fingerprints, with the parameters in the metadata."""
        if self.exact_only:
            return FINGERPRINTS
        made = schema(self.signature_parameters, self.signatures)
        fields = [*FINGERPRINTS, *TEXT_FIELDS, *made, *(LINK_FIELDS if self.links else ())]
        return pa.schema(fields, metadata=made.metadata)

    def of(self, pages: pa.RecordBatch) -> pa.RecordBatch:
        """Make the fingerprints of a batch of pages, in order. Several threads may call it at once."""
        exact = fingerprint_pages(pages)
        if self.exact_only:
            return exact
        texts = extract(pages, content=self.content, links=self.links)
        signed = fingerprints(
            texts["text"],
            self.signature_parameters,
            languages=texts["language"],
            signatures=self.signatures,
            lexicon=self._lexicon(),
        ).combine_chunks()
        columns = [*exact.columns, *(texts[found.name] for found in TEXT_FIELDS)]
        signatures = [
            column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in signed.itercolumns()
        ]
        fragments = link_columns(texts, self._lexicon()) if self.links else []
        return pa.RecordBatch.from_arrays([*columns, *signatures, *fragments], schema=self.schema)

    @cached_property
    def _threads(self) -> threading.local:
        return threading.local()

    def _lexicon(self) -> Lexicon:
        """Give each thread a lexicon of its own, which knows the words of all batches so far."""
        if not hasattr(self._threads, "lexicon"):
            self._threads.lexicon = make_lexicon(self.signature_parameters)
        found: Lexicon = self._threads.lexicon
        return found

    def __getstate__(self) -> dict[str, object]:
        """Leave lexicons and threads behind when it goes to another process."""
        names = ("content", "exact_only", "parameters", "links", "signatures")
        return {name: getattr(self, name) for name in names}

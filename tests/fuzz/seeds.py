"""Writes the seeds of the fuzzer that we thought of ourselves: python -m tests.fuzz.seeds."""

import gzip
import zlib

import brotli

from tests.cases import load
from tests.corpus_files import ROWS, cdx, cdxj, delimited, gzipped, http, jsonl, page_record, parquet, wacz, warc, zstd
from tests.data import make_faulty
from tests.fuzz.targets import CORPUS
from undust.rules.binary import dump_binary
from undust.rules.files import dumps
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

FORMATS = {".warc": "warc", ".wacz": "wacz", ".cdx": "cdx", ".jsonl": "jsonl", ".csv": "delimited", ".tsv": "delimited"}
FORMATS |= {".parquet": "parquet"}


def seeds() -> dict[str, dict[str, bytes]]:
    """Names and bytes of seeds by target."""
    html = b"<p>hello</p>"
    digest = b"WARC-Payload-Digest: sha1:AAAA"
    records = [
        page_record(1),
        warc(http(gzip.compress(html * 9, mtime=0), b"Content-Encoding: gzip"), digest),
        warc(http(b"", b"X: y"), digest, kind=b"revisit"),
        warc(html, kind=b"resource"),
        warc(b"text", b"Content-Type: text/plain", kind=b"conversion"),
        warc(b"GET / HTTP/1.1\r\n\r\n", kind=b"request"),
        warc(http(b"x" * 400), digest),
    ]
    chunked = b"4\r\n<p>h\r\n8;a=b\r\nello</p>\r\n0\r\n\r\n"
    few = ROWS[:3]
    found: dict[str, dict[str, bytes]] = {
        "url": {f"case-{number}": case["url"].encode() for number, case in enumerate(load("normalize"))},
        "body": {
            "plain": http(html, b"Content-Type: text/html"),
            "chunked": http(chunked, b"Transfer-Encoding: chunked"),
            "gzip": http(gzip.compress(html, mtime=0), b"Content-Encoding: gzip"),
            "deflate": http(zlib.compress(html), b"Content-Encoding: deflate"),
            "br": http(brotli.compress(html), b"Content-Encoding: br"),
            "zstd": http(zstd(html), b"Content-Encoding: zstd"),
            "twice": http(gzip.compress(zstd(html), mtime=0), b"Content-Encoding: zstd, gzip"),
            "continue": b"HTTP/1.1 100 Continue\r\n\r\n" + http(html),
            "bare": b"HTTP/1.0 200\nA: b\n\n" + html,
        },
        "warc": {
            "kinds.warc": b"".join(records),
            "kinds.warc.gz": gzipped(*records),
            "kinds.warc.zst": zstd(*records),
            "whole.warc.gz": gzipped(b"".join(records)),
        },
        "wacz": {"two.wacz": wacz({"archive/a.warc.gz": gzipped(*records[:3]), "archive/b.warc": records[3]}, 8)},
        "cdx": {
            "11.cdx": cdx(rows=few),
            "9.cdx": cdx("N b a m s k r V g", rows=few),
            "bare": cdx(header=False, rows=few),
        },
        "cdxj": {"pages.cdxj": cdxj(few), "pages.cdxj.gz": gzipped(cdxj(few))},
        "jsonl": {
            "pages.jsonl": jsonl(few),
            "pages.jsonl.zst": zstd(jsonl(few)),
            "clusters": b'{"url":"http://a/","cluster":7}\n',
        },
        "delimited": {
            "pages.csv": delimited(",", few),
            "pages.tsv": delimited("\t", few),
            "quoted.csv": b'url,text\n"http://a/","x,""y""\nz"\n',
            "clusters": b"url,cluster,importance,inlinks\nhttp://a/,c,1.5,2\n",
        },
        "parquet": {
            "pages.parquet": parquet(few),
            "plain.parquet": parquet(few, use_dictionary=False, compression="none"),
        },
    }
    found |= pages_rules_and_questions()
    for name, data in make_faulty.files().items():
        for ending, target in FORMATS.items():
            if ending in name and len(data) < 6000:
                found[target][name] = data
    return found


def pages_rules_and_questions() -> dict[str, dict[str, bytes]]:
    """Seeds of what is no file of pages."""
    rule = read_line("h.com  //….h.com/…?sid={?}  →  //….h.com/…")
    moved = read_line("h.com  //….h.com/…/{a}/index.html  →  //….h.com/…/{a}/")
    sets = [RuleSet([]), RuleSet([rule]), RuleSet([rule, moved])]
    return {
        "html": {
            "page": b"text/html; charset=utf-8\n<title>a</title><p>hello <a href=b>world</a><!-- c --><script>d",
            "odd": b"text/html\n<meta charset=shift_jis><table><td>x<svg><![CDATA[y]]></svg>&nGt;&#x80;<plaintext>",
            "text": b"text/plain; charset=utf-16\n\xff\xfea\0b\0",
        },
        "rules": {
            **{f"{len(each)}.json": dumps(each).encode() for each in sets},
            **{f"{len(each)}.bin": dump_binary(each, {}) for each in sets},
        },
        "lists": {
            "0-dud": b'\x00[{"args": ["sid"], "urlPattern": {"include": ["h.com"]}, "processor": "queryRemoval"}]',
            "1-clearurls": b'\x01{"providers": {"h": {"urlPattern": "^https?://h\\\\.com", "rules": ["sid"]}}}',
            "2-adguard": b"\x02||h.com^$removeparam=sid\n$removeparam=/^utm_/\n",
            "3-brave": b'\x03[{"include": ["*://h.com/*"], "exclude": [], "params": ["sid"]}]',
            "4-clean-param": b"\x04User-agent: *\nClean-param: sid&ref /forum\n",
            "5-nutch": b"\x05<regex-normalize><regex><pattern>(?i)[?&amp;]sid=[^&amp;]*</pattern>"
            b"<substitution></substitution></regex></regex-normalize>",
        },
        "http": {
            "normalize": b'POST /normalize\n{"url": "http://h.com/p1?sid=1"}',
            "many": b'POST /key\n{"urls": ["http://h.com/p1?sid=1", "x"]}',
            "same": b'POST /same\n{"pairs": [["http://h.com/p1", "http://h.com/p1?sid=1"]]}',
            "explain": b'POST /explain\n{"url": "http://h.com/p1?sid=1"}',
            "rules": b"GET /rules?site=h.com&sort=merged\n",
            "clusters": b"GET /clusters?limit=2\n",
            "search": b"GET /search?q=sid\n",
            "health": b"GET /health\n",
            "page": b"GET /..%2f..%2fetc/passwd\n",
        },
    }


def main() -> None:
    """Write them."""
    for target, files in seeds().items():
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (CORPUS / target / name).write_bytes(data)


if __name__ == "__main__":
    main()

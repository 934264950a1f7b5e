"""The generated web: the same for the same seed, true to what it says it planted, and shaped like the real one."""

import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from undust import cli, corpus, pipeline
from undust.errors import OutputError, UsageError
from undust.synth import generate
from undust.synth.applications import SOFTWARE
from undust.synth.families import SITE_WIDE
from undust.synth.sites import Site
from undust.synth.sizes import SPREAD, cluster_sizes, site_sizes
from undust.synth.software import DECOYS
from undust.synth.spelling import FAMILIES
from undust.synth.templates import FACETS, Template, Values, capacity
from undust.synth.web import Count, Web
from undust.synth.words import ATTRIBUTES, IDENTITIES, vocabulary
from undust.urls.batch import normalize_many

SMALL = Web(sites=12, urls=12_000, seed=5)


@pytest.fixture(scope="module")
def small() -> pa.Table:
    return SMALL.table()


def test_the_same_seed_gives_the_same_web(small: pa.Table) -> None:
    assert Web(sites=12, urls=12_000, seed=5).table().equals(small)
    assert not Web(sites=12, urls=12_000, seed=6).table().equals(small)


def test_each_url_occurs_once_also_in_standard_form(small: pa.Table) -> None:
    assert len(small["url"].unique()) == len(small)
    standard = normalize_many(small["url"])
    assert standard.unusable == 0
    clusters = defaultdict(set)
    for url, cluster in zip(standard.urls.to_pylist(), small["cluster"].to_pylist(), strict=True):
        clusters[url].add(cluster)
    assert all(len(found) == 1 for found in clusters.values())


def test_sites_have_the_names_that_undust_gives_them(small: pa.Table) -> None:
    for url, site in list(zip(small["url"].to_pylist(), small["site"].to_pylist(), strict=True))[::50]:
        assert undust.site(url) == site


def test_small_batches_make_a_web_of_the_same_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "ROWS", 500)
    (site,) = Web(sites=1, urls=5000, seed=3).drawn
    batches = list(generate.site_batches(site))
    assert len(batches) > 5
    assert all(batch.num_rows <= 500 for batch in batches[1:])
    urls = [url for batch in batches for url in batch["url"].to_pylist()]
    assert len(set(urls)) == len(urls)
    seen: set[str] = set()
    for batch in batches:  # pages never straddle batches
        found = set(batch["cluster"].to_pylist())
        assert not found & seen
        seen |= found


# What a person would do, knowing the plant, to bring the URLs of a page together. One obvious way for each family.
Undo = Callable[[str, dict[str, Any]], str]


def _without(url: str, names: set[str]) -> str:
    head, _, query = url.partition("?")
    mark = ";" if ";" in query else "&"
    kept = [argument for argument in query.split(mark) if argument and argument.partition("=")[0] not in names]
    return head + ("?" + mark.join(kept) if kept else "")


def _in_order(url: str, values: dict[str, Any]) -> str:
    head, _, query = url.partition("?")
    return head + "?" + "&".join(sorted(re.split("[&;]", query)))


def _first_of_each(url: str, values: dict[str, Any]) -> str:
    head, _, query = url.partition("?")
    return head + "?" + "&".join(dict.fromkeys(query.split("&")))


def _path(change: Callable[[str], str]) -> Undo:
    def undo(url: str, values: dict[str, Any]) -> str:
        parts = urlsplit(url)
        return parts._replace(path=change(parts.path)).geturl()

    return undo


UNDO: dict[str, Undo] = {
    "session": lambda url, values: url if "/stations" in url else _without(url, {values["name"]}),
    "path session": lambda url, values: re.sub(rf";{values['name']}=[0-9A-F]+", "", url),
    "index file": lambda url, values: url.replace("/" + values["file"], "/"),
    "trailing slash": _path(lambda path: path.rstrip("/")),
    "www": lambda url, values: url.replace("://www.", "://"),
    "scheme": lambda url, values: url.replace("https://", "http://"),
    "mirror": lambda url, values: re.sub("://(" + "|".join([*values["labels"], "www"]) + r")\.", "://", url),
    "order": _in_order,
    "repeated": _first_of_each,
    "tracking": lambda url, values: url if "/sources" in url else _without(url, {*values["arguments"], "ref"}),
    "case": _path(lambda path: path if path.startswith("/s/") else path.lower()),
    "escape": lambda url, values: url.replace("%3A", ":"),
    "extension": _path(lambda path: re.sub(r"\.(html|php|htm)$", "", path)),
    "alias": lambda url, values: url.replace(f"/{values['alias']}/", "/3.2/"),
    "double slash": _path(lambda path: path.replace("//", "/")),
}


def test_there_is_an_oracle_for_each_family_of_whole_sites() -> None:
    assert set(UNDO) == set(SITE_WIDE)


def _families_of(site: Site) -> dict[str, dict[str, Any]]:
    return {plant.family: plant.values for plant in site.plants}


@pytest.mark.parametrize("family", UNDO)
def test_a_family_is_planted_as_the_truth_says(family: str) -> None:
    web = Web(sites=4, urls=2000, seed=1, families=(family,), spread=0.3)
    shown = 0
    for site, batch in web.batches():
        values = _families_of(site).get(family, {})
        keys, clusters = defaultdict(set), defaultdict(set)
        for url, cluster in zip(batch["url"].to_pylist(), batch["cluster"].to_pylist(), strict=True):
            key = UNDO[family](url, values) if values or family not in ("session", "tracking") else url
            keys[key].add(cluster)
            clusters[cluster].add(key)
        assert all(len(found) == 1 for found in keys.values())  # what it makes one is one page
        assert all(len(found) == 1 for found in clusters.values())  # and nothing else makes two of one
        shown += int(np.count_nonzero(batch["families"].to_numpy()))
    assert shown > 20


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in UNDO])
def test_families_of_templates_make_duplicates_and_nothing_else_does(family: str) -> None:
    table = Web(sites=6, urls=3000, seed=2, families=(family,), spread=0.3).table()
    masks = table["families"].to_numpy()
    bit = np.uint32(1 << FAMILIES.index(family))
    assert set(np.unique(masks).tolist()) == {0, int(bit)}
    sizes = defaultdict(list)
    for cluster, mask in zip(table["cluster"].to_pylist(), masks.tolist(), strict=True):
        sizes[cluster].append(mask)
    # A page has one plain URL at most: all others are there by the family.
    assert max(found.count(0) for found in sizes.values()) == 1
    assert sum(len(found) > 1 for found in sizes.values()) > (0 if family in ("soft 404", "login", "calendar") else 10)


def test_arguments_that_look_like_noise_may_matter() -> None:
    web = Web(sites=40, urls=40_000, seed=0, families=("session",), spread=0.2)
    found = 0
    for site, batch in web.batches():
        name = _families_of(site).get("session", {}).get("name")
        stations = [
            (dict(parse_qsl(urlsplit(url).query)).get(name), cluster)
            for url, cluster in zip(batch["url"].to_pylist(), batch["cluster"].to_pylist(), strict=True)
            if "/stations?" in url
        ]
        found += len(stations)
        assert len({value for value, _ in stations}) == len({cluster for _, cluster in stations}) == len(stations)
    assert found > 100


def test_pages_that_do_not_exist_look_like_those_that_do() -> None:
    (software,) = [each for each in SOFTWARE if each.name == "news"]
    plain = {section.name: section for section in software.sections}
    assert plain["gone"].plain == plain["story"].plain
    assert plain["gone"].giant == "soft 404"


def test_wrong_labels_are_as_many_as_were_asked_for(small: pa.Table) -> None:
    noisy = Web(sites=12, urls=12_000, seed=5, noise=0.1).table()
    assert noisy["url"].equals(small["url"])
    assert noisy["true_cluster"].equals(small["cluster"])
    wrong = np.array(noisy["cluster"].to_pylist()) != np.array(noisy["true_cluster"].to_pylist())
    assert 0.08 < wrong.mean() < 0.11  # some are put where they belong by chance
    sites = dict(zip(small["cluster"].to_pylist(), small["site"].to_pylist(), strict=True))
    assert all(sites[c] == s for c, s in zip(noisy["cluster"].to_pylist(), noisy["site"].to_pylist(), strict=True))


def test_sizes_of_sites_are_those_of_table_1() -> None:
    sizes = site_sizes(200, 70_421_200, SPREAD, np.random.default_rng(0))
    assert 12_000 < sizes.min() < 50_000  # 24,147
    assert 2_000_000 < sizes.max() < 5_000_000  # 3,000,000
    assert abs(sizes.mean() - 352_106) < 1000


def test_shares_of_duplicates_are_those_of_table_1() -> None:
    count = Count()
    web = Web(sites=60, urls=60_000, seed=1)
    for site, batch in web.batches():
        count.add(site, batch)
    told = count.told(web)
    rates = [1 - site["clusters"] / site["urls"] for site in told["sites"]]
    assert 0.56 < np.mean(rates) < 0.70  # 0.634
    assert 0.62 < told["duplicate_rate"] < 0.80  # 0.738


@given(st.floats(1.2, 12), st.integers(20, 300_000), st.integers(0, 2**32))
def test_sizes_of_clusters_have_the_mean_that_was_asked_for(mean: float, largest: int, seed: int) -> None:
    sizes = cluster_sizes(20_000, mean, largest, np.random.default_rng(seed))
    assert sizes.min() == 1
    assert sizes.max() <= largest
    # The mean of a heavy tail is slow to come; the median of such means is near it.
    assert 0.5 * min(mean, 0.45 * largest) < sizes.mean() < 2.5 * mean


def test_sizes_of_clusters_follow_a_power_law() -> None:
    sizes = cluster_sizes(400_000, 3.8, 314_465, np.random.default_rng(0))
    at = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256])
    shares = np.log([(sizes >= k).mean() for k in at])
    slopes = np.diff(shares) / np.diff(np.log(at))
    assert np.ptp(slopes) < 0.1  # a straight line in logarithms


NAMED = sorted(IDENTITIES)


@given(st.sampled_from(NAMED), st.sets(st.integers(0, 10**8 - 1), max_size=60), st.integers(0, 10**9))
def test_what_names_a_page_is_one_to_one(kind: str, numbers: set[int], seed: int) -> None:
    texts = IDENTITIES[kind](np.array(sorted(numbers), np.uint64), seed).to_pylist()
    assert len(set(texts)) == len(numbers)


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("numbers", [(0, 200_000, 1), (0, 10**8, 50_000), (10**8 - 50_000, 10**8, 1)])
def test_what_names_a_page_is_one_to_one_for_neighbours_and_for_multiples(
    kind: str, numbers: tuple[int, int, int]
) -> None:
    texts = IDENTITIES[kind](np.arange(*numbers, dtype=np.uint64), 12_345)
    assert len(texts.unique()) == len(texts)


def test_files_have_no_slash_behind_them() -> None:
    table = Web(sites=6, urls=3000, seed=1, families=("trailing slash",)).table()
    paths = [urlsplit(url).path for url in table["url"].to_pylist()]
    assert any(path.endswith("/") and path != "/" for path in paths)
    assert not any(re.search(r"\.(html|pdf|aspx|php)/", path) for path in paths)


def test_words_are_distinct_and_plain() -> None:
    words = vocabulary().to_pylist()
    assert len(set(words)) == len(words)
    assert all(re.fullmatch("[a-z]{4,}", word) for word in words)


def test_every_slot_of_every_template_is_known() -> None:
    free = {"future", "number"}
    sections = [section for each in SOFTWARE for section in each.sections] + list(DECOYS.values())
    for section in sections:
        templates = [section.plain, *(form.template for form in section.forms)]
        templates += [Template(f"/?{extra.name}={extra.value}") for extra in section.extras]
        for slot in (slot for template in templates for slot in template.slots):
            known = {*IDENTITIES, *ATTRIBUTES, *FACETS} | (free if slot.free else {"session", "tracking"})
            assert slot.kind in known, (section.name, slot)
        for form in section.forms:  # a page that other forms name by what the plain one has not is not one page
            names = {slot.kind for slot in section.plain.slots}
            told = {slot.kind for slot in form.template.slots if not slot.free}
            assert told <= names or form.family == "unknowable", (section.name, form)


@pytest.mark.parametrize(
    "text", sorted({section.plain.text for each in SOFTWARE for section in each.sections if not section.giant})
)
def test_the_plain_template_names_each_page_differently(text: str) -> None:
    template = Template(text)
    pages = np.arange(min(600, capacity(template)), dtype=np.uint64)
    values = Values(template, pages, np.arange(len(pages)), 7, np.random.default_rng(0))
    written = values.render(template.path, values.rows).to_pylist()
    for name, value in template.arguments:
        written = [
            f"{a}&{name}={b}" for a, b in zip(written, values.render(value, values.rows).to_pylist(), strict=True)
        ]
    assert len(set(written)) == len(pages)


def test_the_folder_holds_clusters_and_the_truth_about_them(tmp_path: Path, small: pa.Table) -> None:
    truth = undust.synth(tmp_path / "web", sites=12, urls=12_000, seed=5)
    assert pq.read_table(tmp_path / "web" / "clusters.parquet").equals(small)
    assert json.loads((tmp_path / "web" / "truth.json").read_text()) == truth
    assert truth["urls"] == len(small)
    assert truth["clusters"] == len(small["cluster"].unique())
    assert [site["site"] for site in truth["sites"]] == [site.domain for site in SMALL.drawn]
    for site in truth["sites"]:
        assert set(site["shown"]) <= set(site["families"])  # nothing shows that is not told
        assert all(one["words"] for told in site["families"].values() for one in told)


def test_all_families_are_somewhere_in_a_web() -> None:
    count = Count()
    web = Web(sites=60, urls=30_000, seed=0)
    for site, batch in web.batches():
        count.add(site, batch)
    assert {family for site in count.sites.values() for family in site["shown"]} == set(FAMILIES)


def partition(urls: list[str], clusters: list[str]) -> set[frozenset[str]]:
    groups = defaultdict(set)
    for url, cluster in zip(urls, clusters, strict=True):
        groups[cluster].add(url)
    return {frozenset(group) for group in groups.values()}


@pytest.mark.parametrize("form", ["warc", "jsonl"])
def test_equal_pages_are_the_planted_clusters(tmp_path: Path, form: str) -> None:
    undust.synth(tmp_path, sites=3, urls=600, seed=4, pages=form, canonical=True)
    tally = corpus.Tally()
    fingerprints = undust.fingerprint(tmp_path / f"pages.{form}.gz", tally=tally)
    assert tally.damaged == 0
    found = undust.cluster(fingerprints)
    truth = pq.read_table(tmp_path / "clusters.parquet")
    told = partition(truth["url"].to_pylist(), truth["cluster"].to_pylist())
    assert partition(found["url"].to_pylist(), found["cluster"].to_pylist()) == told
    plain = {row["cluster"]: row["url"] for row in truth.to_pylist() if row["families"] == 0}
    clusters = dict(zip(truth["url"].to_pylist(), truth["cluster"].to_pylist(), strict=True))
    for row in fingerprints.select(["url", "canonical"]).to_pylist()[::20]:
        expected = plain.get(clusters[row["url"]])
        assert row["canonical"] == (None if expected is None else undust.normalize(expected))


def test_edited_pages_are_near_duplicates(tmp_path: Path) -> None:
    undust.synth(tmp_path, sites=2, urls=500, seed=4, pages="jsonl", edits=0.5)
    fingerprints = undust.fingerprint(tmp_path / "pages.jsonl.gz")
    truth = len(pq.read_table(tmp_path / "clusters.parquet")["cluster"].unique())
    exact = pipeline.count_clusters(undust.cluster(fingerprints))["clusters"]
    near = pipeline.count_clusters(undust.cluster(fingerprints, method="minhash"))["clusters"]
    assert truth * 1.1 < exact
    assert truth <= near < truth + 0.3 * (exact - truth)


def test_the_same_options_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        undust.synth(tmp_path / name, sites=2, urls=200, seed=4, pages="warc", edits=0.5)
    for file in ("clusters.parquet", "truth.json", "pages.warc.gz"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize(
    "options",
    [{"families": ["sessions"]}, {"sites": 0}, {"sites": 10, "urls": 5}, {"noise": 1.0}, {"pages": "zip"}],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        undust.synth(tmp_path / "web", **{"sites": 2, "urls": 100, **options})
    assert not list((tmp_path / "web").glob("*"))


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="choose another folder"):
        undust.synth(tmp_path / "file" / "web", sites=2, urls=100)


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["synth", "-o", str(tmp_path), "--sites", "2", "--urls", "300", "--families", "session, www"]
    assert cli.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sites"] == 2
    assert told["urls"] == pq.read_table(tmp_path / "clusters.parquet").num_rows
    assert cli.main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert cli.main(["synth", "-o", str(tmp_path), "--families", "nonsense"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1

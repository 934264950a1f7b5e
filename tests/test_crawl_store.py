"""Every kind of store keeps the same promises; real servers, no stand-ins."""

import itertools
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crawl_servers import postgres_server, redis_server
from undust.crawl.store import Store, open_store
from undust.errors import InputError, OutputError, UndustError, UsageError

ROOT = Path(__file__).parents[1]
KINDS = [
    "memory",
    "sqlite",
    pytest.param("redis", marks=pytest.mark.redis),
    pytest.param("postgres", marks=pytest.mark.postgres),
]
LASTING = KINDS[1:]
SHARED = KINDS[2:]
_numbers = itertools.count()


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str], str]]:
    """Give the address of a server, started when it is first asked for."""
    import contextlib

    started: dict[str, str] = {}
    with contextlib.ExitStack() as stack:

        def address(kind: str) -> str:
            if kind not in started:
                server = redis_server("--appendonly", "no") if kind == "redis" else postgres_server()
                started[kind] = stack.enter_context(server)
            return started[kind]

        yield address


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, servers: Callable[[str], str]) -> str:
    """Give a place for a store that nobody has used."""
    kind = request.param
    if kind == "memory":
        return ":memory:"
    if kind == "sqlite":
        return str(tmp_path / "seen.store")
    return f"{servers(kind)}?prefix=test{next(_numbers)}"


def signatures(*numbers: int) -> list[bytes]:
    return [(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).to_bytes(16, "big") for number in numbers]


every_kind = pytest.mark.parametrize("place", KINDS, indirect=True)
every_lasting_kind = pytest.mark.parametrize("place", LASTING, indirect=True)
every_shared_kind = pytest.mark.parametrize("place", SHARED, indirect=True)


@every_kind
def test_urls_are_new_once(place: str) -> None:
    a, b, c = signatures(1, 2, 3)
    with open_store(place) as store:
        assert store.known_urls([a, b]) == [False, False]
        assert store.add_urls([a, b, a]) == [True, True, False]
        assert store.add_urls([c, b]) == [True, False]
        assert store.known_urls([c, a, a]) == [True, True, True]
        assert store.add_urls([]) == []
        assert store.known_urls([]) == []


@every_kind
def test_forgotten_urls_are_new_again(place: str) -> None:
    a, b, c = signatures(1, 2, 3)
    with open_store(place) as store:
        store.add_urls([a, b])
        assert store.forget_urls([a, c, a]) == 1
        assert store.known_urls([a, b]) == [False, True]
        assert store.add_urls([a]) == [True]
        assert store.forget_urls([]) == 0


@every_kind
def test_a_content_belongs_to_the_first_page_that_had_it(place: str) -> None:
    a, b = signatures(1, 2)
    with open_store(place) as store:
        assert store.first_page(a) is None
        assert store.add_page(a, "http://a.test/1") is None
        assert store.first_page(a) == "http://a.test/1"
        assert store.first_page(b) is None  # a look remembers nothing
        assert store.add_page(a, "http://a.test/2") == "http://a.test/1"
        assert store.add_page(a, "http://a.test/1") is None  # fetched again, it is no duplicate of itself
        assert store.add_pages([b, b, a], ["http://a.test/3", "http://a.test/4", "http://a.test/5"]) == [
            None,
            "http://a.test/3",
            "http://a.test/1",
        ]
        assert store.add_pages([], []) == []
        assert store.known_urls([a]) == [False]  # contents are no URLs


@every_kind
def test_settings_are_kept_beside_signatures(place: str) -> None:
    with open_store(place) as store:
        assert store.get_setting("rules") is None
        assert store.settle("rules", "one") == "one"
        assert store.settle("rules", "two") == "one"
        store.set_setting("rules", "dréi")
        assert store.get_setting("rules") == "dréi"
        assert store.settle("rules", "four") == "dréi"


@every_kind
def test_large_batches_are_like_small_ones(place: str) -> None:
    many = signatures(*range(5000))
    with open_store(place) as store:
        assert all(store.add_urls(many))
        assert not any(store.add_urls(many))
        assert sum(store.known_urls([*many, *signatures(*range(5000, 6000))])) == 5000
        assert store.forget_urls(many[:4000]) == 4000
        assert sum(store.known_urls(many)) == 1000


@every_kind
def test_a_signature_of_another_size_is_refused(place: str) -> None:
    with open_store(place) as store:
        for call in (store.add_urls, store.known_urls, store.forget_urls):
            with pytest.raises(UsageError, match="a signature of 3 bytes; it should have 16"):
                call([b"abc"])
        with pytest.raises(UsageError, match="a signature of 3 bytes"):
            store.add_page(b"abc", "http://a.test/")
        with pytest.raises(UsageError, match="a signature of 3 bytes"):
            store.first_page(b"abc")
        with pytest.raises(UsageError, match="1 signatures and 0 URLs; give one URL for each"):
            store.add_pages(signatures(1), [])


@every_kind
def test_threads_agree_on_what_is_new(place: str) -> None:
    given = signatures(*range(200))
    new: list[bool] = []
    firsts: list[str | None] = []

    def work(store: Store, name: int) -> None:
        for start in range(0, 200, 20):
            new.extend(store.add_urls(given[start : start + 20]))
            firsts.append(store.add_page(given[start], f"http://a.test/{name}"))

    with open_store(place) as store:
        threads = [threading.Thread(target=work, args=(store, name)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(new) == 200
    assert firsts.count(None) == 10


@every_lasting_kind
def test_what_was_acknowledged_is_there_when_it_is_opened_again(place: str) -> None:
    given = signatures(*range(100))
    with open_store(place) as store:
        store.add_urls(given)
        store.forget_urls(given[:10])
        store.add_page(given[0], "http://a.test/é")
        store.set_setting("a", "b")
        store.flush()
    with open_store(place) as store:
        assert store.known_urls(given) == [False] * 10 + [True] * 90
        assert store.add_page(given[0], "http://b.test/") == "http://a.test/é"
        assert store.get_setting("a") == "b"


@every_lasting_kind
def test_two_processes_at_once_agree_on_what_is_new(place: str) -> None:
    code = """
import sys
from tests.test_crawl_store import signatures
from undust.crawl.store import open_store
with open_store(sys.argv[1]) as store:
    print("open", flush=True)
    sys.stdin.readline()
    new = []
    for start in range(0, 2000, 10):
        new += store.add_urls(signatures(*range(start, start + 10))[:: 1 if sys.argv[2] == "a" else -1])
        new.append(store.add_page(*signatures(start), "http://a.test/" + sys.argv[2]) is None)
print(sum(new))
"""
    command = [sys.executable, "-c", code, place]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    both = [subprocess.Popen([*command, name], **pipes) for name in "ab"]  # type: ignore[call-overload] # pipes as above
    for one in both:
        assert one.stdout.readline() == "open\n"
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    assert sum(int(one.communicate()[0]) for one in both) == 2000 + 200
    assert [one.returncode for one in both] == [0, 0]


@every_lasting_kind
def test_many_processes_may_make_the_same_store_at_once(place: str) -> None:
    code = (
        "import sys; from undust.crawl.store import open_store as o; print(o(sys.argv[1]).settle('salt', sys.argv[2]))"
    )
    every = [
        subprocess.Popen([sys.executable, "-c", code, place, str(number)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for number in range(4)
    ]
    assert len({one.communicate()[0] for one in every}) == 1
    assert [one.returncode for one in every] == [0] * 4


@every_lasting_kind
def test_a_closed_store_says_so(place: str) -> None:
    store = open_store(place)
    store.close()
    store.close()
    if not place.startswith("redis"):  # whose client opens a connection again
        with pytest.raises(OutputError, match="the store is closed; open it again"):
            store.known_urls(signatures(1))


def test_a_store_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "seen.store"
    open_store(path).close()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 7")
    base.close()
    with pytest.raises(InputError, match="a store of format 7; this undust knows 1: use a newer undust"):
        open_store(path)


@every_shared_kind
def test_a_shared_store_of_a_newer_format_is_refused(place: str) -> None:
    with open_store(place) as store:
        if place.startswith("redis"):
            import redis

            address, prefix = place.split("?prefix=")
            with redis.Redis.from_url(address) as base:
                base.set(f"{prefix}:format", "7")
        else:
            store.set_setting("format", "7")
    with pytest.raises(InputError, match="a store of format 7; this undust knows 1: use a newer undust"):
        open_store(place)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"url\tcluster\nhttp://a.test/\t1\n" * 100, "no store, or a damaged one"),
        (b"SQLite format 3\x00" + b"\xff" * 4080, "no store, or a damaged one"),
        (None, "a SQLite file of another program, no store; choose another path"),
    ],
    ids=["text", "broken", "foreign"],
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "seen.store"
    if content is None:
        base = sqlite3.connect(path)
        base.execute("CREATE TABLE a (b)")
        base.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(InputError, match=message):
        open_store(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["seen.store"]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "seen.store"
    path.touch()  # what is left if the process is killed while it makes one
    with open_store(path) as store:
        assert store.add_urls(signatures(1)) == [True]


@pytest.mark.redis
def test_keys_of_another_program_are_refused(servers: Callable[[str], str]) -> None:
    import redis

    address = servers("redis")
    with redis.Redis.from_url(address) as base:
        base.set("theirs:format", "html")
        base.rpush("lists:format", "1")
    with pytest.raises(InputError, match="theirs:format is not ours; choose another prefix"):
        open_store(f"{address}?prefix=theirs")
    with pytest.raises(InputError, match="keys of another program; choose another prefix"):
        open_store(f"{address}?prefix=lists")


@pytest.mark.postgres
def test_tables_of_another_program_are_refused(servers: Callable[[str], str]) -> None:
    import psycopg

    address = servers("postgres")
    with psycopg.connect(address, autocommit=True) as base:
        base.execute("CREATE TABLE theirs_settings (id int)")
    with pytest.raises(InputError, match=r"tables of another program .*choose another prefix"):
        open_store(f"{address}?prefix=theirs")
    with pytest.raises(UsageError, match="prefix 'A-1': use small letters"):
        open_store(f"{address}?prefix=A-1")


@pytest.mark.postgres
def test_a_connection_that_the_server_ended_is_made_anew(servers: Callable[[str], str]) -> None:
    import psycopg

    address = servers("postgres")
    with open_store(f"{address}?prefix=ended") as store:
        store.add_urls(signatures(1))
        with psycopg.connect(address, autocommit=True) as base:
            base.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with pytest.raises(OutputError, match="PostgreSQL"):
            store.known_urls(signatures(1))
        assert store.known_urls(signatures(1)) == [True]


WRONG_PLACES = [
    # (place, kind of error, message)
    ("ftp://host/a", UsageError, "no such kind of store; give the path of a file, redis://… or postgresql://…"),
    ("/nowhere/at/all/seen.store", OutputError, "choose a folder that exists"),
    ("redis://127.0.0.1:1/0", OutputError, "no answer from Redis .* is the server running?"),
    ("redis://:secret@127.0.0.1:1/0", OutputError, "^127.0.0.1:1/0: no answer"),
    ("redis://host:port/0", UsageError, "write it like redis://host:6379/0"),
    ("postgresql://undust@127.0.0.1:1/a", OutputError, "no connection to PostgreSQL .* is the server running?"),
    ("postgresql://undust:secret@127.0.0.1:1/a", OutputError, "^127.0.0.1:1/a: no connection"),
]


@pytest.mark.parametrize(("place", "kind", "message"), WRONG_PLACES, ids=lambda value: str(value)[:30])
def test_a_wrong_place_is_a_clear_error(place: str, kind: type[UndustError], message: str) -> None:
    with pytest.raises(kind, match=message) as found:
        open_store(place)
    assert "secret" not in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.redis
def test_redis_warns_of_settings_that_lose_signatures(caplog: pytest.LogCaptureFixture) -> None:
    with redis_server("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as address:
        open_store(address).close()
    assert [re.sub(r".*; ", "", record.getMessage()) for record in caplog.records] == [
        "set maxmemory-policy noeviction",
        "set appendonly yes",
    ]


@pytest.mark.redis
def test_a_full_redis_is_a_clear_error() -> None:
    with (
        redis_server("--maxmemory", "2mb", "--maxmemory-policy", "noeviction") as address,
        open_store(address) as store,
    ):
        acknowledged = 0

        def fill() -> None:
            nonlocal acknowledged
            while True:
                store.add_urls(signatures(*range(acknowledged, acknowledged + 100)))
                acknowledged += 100

        with pytest.raises(OutputError, match=r"refused by Redis .*used memory.*; see to the server and go on"):
            fill()
        assert all(store.known_urls(signatures(*range(acknowledged))))
        failed = signatures(*range(acknowledged, acknowledged + 100))
        assert not any(store.known_urls(failed))  # all of a batch, or none


def test_a_full_disk_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    """The process may not write files of more than 1 MB: for it, that is what the disk holds."""
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from tests.test_crawl_store import signatures
from undust.crawl.store import open_store
from undust.errors import OutputError
store = open_store(sys.argv[1])
done = 0
try:
    while done < 10**6:
        store.add_urls(signatures(*range(done, done + 50)))
        done += 50
except OutputError as error:
    print(error)
assert all(store.known_urls(signatures(*range(done))))  # it can still be read
print(done)
"""
    path = tmp_path / "seen.store"
    done = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, capture_output=True, text=True, check=True)
    message, count = done.stdout.splitlines()
    assert re.search(
        r"seen\.store: cannot be written \(.*\); what was acknowledged is safe: make room and go on", message
    )
    assert int(count) > 1000
    with open_store(path) as store:
        assert all(store.known_urls(signatures(*range(int(count)))))
        assert not any(store.known_urls(signatures(*range(int(count), int(count) + 50))))
        assert all(store.add_urls(signatures(*range(int(count), int(count) + 5000))))

"""A crawl stays on the public web: whatever a redirect says, and whatever a name server answers the second time."""

import socket
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from twisted.internet.address import IPv4Address, IPv6Address

from undust.crawl.guard import Guard, GuardedResolver, was_blocked

PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.1"


class Names:
    """A name server that answers each time something else."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = iter(answers)

    def resolveHostName(self, receiver: Any, *rest: Any, **named: Any) -> None:  # noqa: N802 - the name that Twisted calls
        receiver.resolutionBegan(None)
        for host in next(self._answers):
            receiver.addressResolved((IPv6Address if ":" in host else IPv4Address)("TCP", host, 80))
        receiver.resolutionComplete()


class Connects:
    """Who is told the addresses, and connects to them."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.complete = False

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - the name that Twisted calls
        pass

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - the same
        self.told.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802 - the same
        self.complete = True


def asked(resolver: GuardedResolver, name: str) -> list[str]:
    receiver: Any = Connects()
    resolver.resolveHostName(receiver, name)
    assert receiver.complete
    return list(receiver.told)


def guarded(*answers: list[str], allow: bool = False) -> GuardedResolver:
    return GuardedResolver(SimpleNamespace(nameResolver=Names(*answers)), allow)


def test_a_name_that_changes_its_address_is_judged_each_time() -> None:
    resolver = guarded([PUBLIC], [PRIVATE], [PUBLIC])
    assert asked(resolver, "rebind.example") == [PUBLIC]
    assert asked(resolver, "rebind.example") == []
    assert was_blocked("rebind.example")
    assert asked(resolver, "rebind.example") == [PUBLIC]


@pytest.mark.parametrize(
    "private",
    [
        PRIVATE, "127.0.0.1", "169.254.169.254", "192.168.1.1", "172.16.0.9", "0.0.0.0", "100.64.0.1",  # noqa: S104
        "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
    ],
)  # fmt: skip
def test_of_several_addresses_the_public_ones_are_connected_to(private: str) -> None:
    assert asked(guarded([private, PUBLIC, private]), "mixed.example") == [PUBLIC]


def test_who_allows_private_addresses_gets_them() -> None:
    assert asked(guarded([PRIVATE], allow=True), "intranet.example") == [PRIVATE]


@pytest.mark.parametrize("name", ["localhost", "0", "127.1", "0x7f.1", "2130706433"])
def test_a_number_in_disguise_is_a_name_and_its_address_is_what_counts(name: str) -> None:
    addresses = [str(found[4][0]) for found in socket.getaddrinfo(name, 80, socket.AF_INET)]
    assert addresses
    assert asked(guarded(addresses), name) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]:8080/", "http://10.1.2.3/",
        "http://[fd00::1]/", "http://[::ffff:7f00:1]/",
    ],
)  # fmt: skip
def test_a_request_to_a_private_address_is_refused_wherever_it_comes_from(url: str) -> None:
    """Each request passes here, also those that a redirect or robots.txt has led to."""
    with pytest.raises(IgnoreRequest, match="--allow-private"):
        Guard(allow_private=False).process_request(Request(url))
    Guard(allow_private=True).process_request(Request(url))


def test_a_public_address_is_none_of_its_business() -> None:
    Guard(allow_private=False).process_request(Request("http://example.com/?u=http://127.0.0.1/"))

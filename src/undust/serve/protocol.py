"""HTTP/1.1 connections that are closed when nobody completes a question on them."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from undust.serve.answers import failure


def impatient(seconds: float) -> type[HttpToolsProtocol]:
    """Make a class of connections that wait so long for the head of a question, and no longer.

    Uvicorn has a limit for idle connections, but none for one that sends a byte now and then.
    """

    class Impatient(HttpToolsProtocol):
        """A connection with a clock that runs from its first byte to the end of the first head, and so on."""

        _clock: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            if self._clock is None:
                self._start()

        def on_headers_complete(self) -> None:
            self._stop()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            refused = failure(400, "bad_http", msg)
            headers = [b"%s: %s\r\n" % pair for pair in refused.raw_headers]
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + b"".join(headers) + b"connection: close\r\n\r\n")
            self.transport.write(bytes(refused.body))
            self.transport.close()

        def _start(self) -> None:
            self._clock = self.loop.call_later(seconds, self._give_up)

        def _stop(self) -> None:
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None

        def _give_up(self) -> None:
            self._clock = None
            if not self.transport.is_closing():
                self.transport.close()

    return Impatient

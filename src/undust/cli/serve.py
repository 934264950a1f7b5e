"""`undust serve`: a run over HTTP, for crawlers that ask and people who look."""

import click

from undust.cli.talk import announce_compiling, quiet_option, say
from undust.errors import MissingExtraError


@click.command("serve", short_help="HTTP API and web page of a run.")
@click.argument("folder", metavar="DIR")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; if others can reach it, changes need a token.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port to listen on; 0 for any."
)
@click.option(
    "--token",
    envvar="UNDUST_TOKEN",
    help="What changes must name as Authorization: Bearer TOKEN.  [default: none on this machine only, else a new one]",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Another name by which the server is called, as by a proxy before it. May be given several times.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@quiet_option
def command(
    folder: str, host: str, port: int, token: str | None, allowed: tuple[str, ...], show: bool, quiet: bool
) -> None:
    """Serve what `undust run` wrote into DIR: an HTTP API for crawlers in any language, and a web page.

    The page shows sites, their pattern trees, rules and clusters, compares two pages, and explains what becomes of a
    URL. Rules can be accepted and withdrawn there. The API is described at /openapi.json. Rules are read again when
    rules.json changes. Ctrl-C ends it.

    \b
    Examples:
      undust serve found
      undust serve found --port 0 --open
      curl -d '{"url": "http://example.com/a?sid=1"}' -H 'Content-Type: application/json' 127.0.0.1:8765/normalize
    """
    try:
        import fastapi  # noqa: F401 - the extra is looked for before anything is said
        import httptools  # noqa: F401
        import uvicorn  # noqa: F401
        import uvloop  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"undust serve needs {error.name}; install undust[serve]") from error
    announce_compiling(quiet=quiet)
    from undust.serve.server import serve

    def ready(address: str) -> None:
        click.echo(address)
        say("Ctrl-C ends it", quiet=quiet)
        if show:
            click.launch(address)

    serve(
        folder,
        host=host,
        port=port,
        token=token,
        allowed_hosts=allowed,
        tell=lambda message: say(message, quiet=quiet),
        ready=ready,
    )

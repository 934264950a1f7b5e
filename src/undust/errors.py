"""The tree of errors; each message says where, what, and what to do.

UndustError
├── UrlError           a URL that cannot be parsed
├── InputError         an input that is missing, empty, unreadable or not what it claims to be
├── OutputError        an output that cannot be written
├── UsageError         options that do not go together or name something unknown
└── MissingExtraError  a feature whose optional dependencies are not installed
"""


class UndustError(Exception):
    """Anything undust raises on purpose. The command line prints it as one line and exits with `exit_code`."""

    exit_code = 1


class UrlError(UndustError, ValueError):
    """A URL that cannot be parsed."""


class InputError(UndustError):
    """An input that is missing, empty, unreadable or not what it claims to be."""


class OutputError(UndustError):
    """An output that cannot be written."""


class UsageError(UndustError):
    """Options that do not go together or name something unknown."""

    exit_code = 2


class MissingExtraError(UndustError):
    """A feature whose optional dependencies are not installed."""

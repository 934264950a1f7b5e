"""URLs as functions from keys to values: split, join, normalize, site, keys; one by one or by the column.

>>> normalize("HTTP://Example.COM:80/a/./b/../%7euser/")
'http://example.com/a/~user/'
>>> site("http://www.php.net/manual/")
'php.net'
>>> {str(key): value for key, value in keys("http://h/a?sid=1").items()}
{'scheme': 'http', 'path[0]': 'a', 'path[-1]': 'a', '?sid': '1'}

The batch forms live in `undust.urls.batch`, so that one URL costs no NumPy, Arrow or Numba.
"""

from undust.urls.keys import Argument, Key, Segment, keys
from undust.urls.normalize import EXTENDED, STANDARD, normalize
from undust.urls.parse import Url, join, split
from undust.urls.site import site

__all__ = [
    "EXTENDED",
    "STANDARD",
    "Argument",
    "Key",
    "Segment",
    "Url",
    "join",
    "keys",
    "normalize",
    "site",
    "split",
]

"""All that may be done to the URLs of a site: edits of one key, exchanges of several, moves between templates."""

from undust.learn.edits import Edit
from undust.learn.exchanges import Exchange
from undust.learn.moves import Move

Alteration = Edit | Exchange | Move

"""Hand-made lists as rules of ours: text in, rules out; what cannot be taken over is listed with the reason.

A reader for each format gives entries (a site, a place on it, names of arguments). In lists all entries that fit are
carried out; of our rules the first that fits decides. `entries` makes the one out of the other.
"""

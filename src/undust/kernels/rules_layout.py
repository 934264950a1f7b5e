"""How the rules of a site are laid out as one run of 32-bit words, for kernels to read and files to hold.

Places in the words of a site (`..._at`) are counted from its first word, places of texts in bytes from its `TEXTS`,
so a site means the same wherever it stands. `undust.rules.flat` writes it, the kernels of rules read it. It is made
small: where the sites of a column are many, the time goes into fetching their words.

    site        header · patterns, pieces, rules, buckets, groups · lists · names · keys · table of names · texts
    name        hash, size * 2 + what it names, text, first key, number of keys; its keys in the order of nth
    key         part + nth * 8, place or, of a named key, list_at of the groups tied to it (0: none)
    list        number of groups, group_at of each, ordered by their first rule
    group       first rule, keys that are there + absent << 10 + literal << 20, bucket_at or table_at; then these keys
    table       mask, then hash and value of each slot (0: empty); or 0 and the only value, and no hash
    bucket      text and size of each literal; number of rules; place, rule_at, conditions_at (0: none) of each
    conditions  number, then key and pattern_at of each
    pattern     parts, slots, the one wide slot or -1; kind, text, size, borders_at of each part
    rule        flags, operations, the first of them on the host, the path, parameters, the query; then these operations
    operation   place or name, nth, pieces_at (0: dropped)
    pieces      number, then LITERAL, text, size │ IGNORED, text, size of the usual value │
                COPIED, key, pattern_at (0: the whole value), slot, conversion
"""

# Header of a site: words in it, a sum over those after the sum (files only), its first rule and how many it has; then
# sizes and places of what follows. `TABLE` is 0 where names are few, and looked through one by one.
SIZE, SUM, FIRST, RULES, FLAGS, NAME_SIZE, TEXTS = range(7)
NAMES, NAME_COUNT, KEYS, KEY_COUNT, TABLE, COMMON = range(7, 13)
HEADER = 13

# Flags of a site: what of a URL its rules look at. One that is `LEFT` to the scalar functions has nothing but a name.
LEFT, USES_HOST, USES_PATH, USES_PARAMS, USES_QUERY = 1, 2, 4, 8, 16

NAME = 5
OF_PARAM, OF_ARGUMENT = range(2)
FEW_NAMES = 8

KEY = 2
PART_BITS = 3
ON_SCHEME, ON_PORT, ON_HOST, ON_PATH, ON_NAME = range(5)

GROUP = 3
COUNT_BITS = 10
MAX_COUNT = 2**COUNT_BITS - 1

BUCKET_RULE = 3
CONDITION = 2

PATTERN, PART = 3, 4
TEXT, ANY, DIGITS, HEX, UUID, DATE = range(6)

RULE = 6
OPERATIONS, ON_HOST_FROM, ON_PATH_FROM, ON_PARAMS_FROM, ON_QUERY_FROM = range(1, 6)
# Flags of a rule: arguments are put in order; the key is not the URL to fetch; all that it does is drop arguments.
SORTED, KEYED, DROPS, RESTS = 1, 2, 4, 8

OPERATION = 3
PIECE = 5
LITERAL, COPIED, IGNORED = range(3)
AS_IS, LOWER, UPPER, ENCODE, DECODE = range(5)

# Tables of hosts: hash and value, two 64-bit words a slot; a value of -1 is an empty slot.
SUFFIX, WILDCARD, EXCEPTION = 1, 2, 4  # what a public suffix list says of a name; 0: only of longer ones

PRIME = 0x9FB21C651E98DF25
GOLDEN = 0x9E3779B97F4A7C15
HASH_SHIFT = 33  # a hash in words has 31 bits

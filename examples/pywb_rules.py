# %% [markdown]
# # pywb
#
# An archive holds `/view.php?t=7&sid=1f`; somebody asks for `/view.php?t=7&sid=2a`. pywb's fuzzy rules say which
# arguments of a URL matter, so that the capture is found. Nobody has to write them by hand:
#
# ```sh
# undust run captures.cdxj -o found --method exact
# undust export found/rules.json --to pywb -o rules.yaml
# ```
#
# and in pywb's `config.yaml`: `rules_file: rules.yaml`.

# %%
from pathlib import Path

import pyarrow as pa

import undust

known = [(f"http://forum.example.com/view.php?t={t}&sid={t}f{s}", f"topic {t}") for t in range(60) for s in range(3)]
clusters = pa.table({"url": [url for url, _ in known], "cluster": [page for _, page in known]})
rules = undust.learn(clusters)
print(*rules)

# %%
exported = undust.export_rules(rules, "pywb", "rules.yaml")
text = Path("rules.yaml").read_text()
print(text)
assert "(t=" in text  # the topic has to be equal, the session does not

# %% [markdown]
# pywb names the arguments that have to be *equal*, so a rule is written for each set of arguments that the captures
# show. Where arguments are all that differs, nothing is lost; a rule about hosts or paths is left out, and named:
# [all exports](../exports.md).

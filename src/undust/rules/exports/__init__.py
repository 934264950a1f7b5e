"""Rules in the formats of other programs: text out; what a format cannot say is listed with the reason.

    rules ──> rewrite ──> variants ──> nutch stormcrawler heritrix regex nginx apache     first match decides
         │          └─────────────────> sql
         └──> removal ────────────────> dud clearurls adguard clean-param pywb            arguments that go

`conditions` are contexts as regular expressions, `settled` tells which rules can be exported one by one.
"""

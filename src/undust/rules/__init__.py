"""Rules at work: the rule language, its two written forms, and sets of rules that normalize URLs."""

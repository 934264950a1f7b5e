"""Were the rules right? What they save, what they lose, on pages that the learner never saw."""

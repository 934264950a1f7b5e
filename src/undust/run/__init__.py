"""Everything at once: from files of pages to rules and what they are worth, in a folder, step by step."""

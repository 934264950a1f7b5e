"""Clusters to rules: how each site spells one page in many ways."""

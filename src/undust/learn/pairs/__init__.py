"""Learning from pairs of duplicate URLs (Koppula et al.): what turns one into the other, and where that holds."""

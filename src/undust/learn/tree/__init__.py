"""The steps of learning by pattern tree (Lei et al., 2010), from the forms of URLs to rules.

forms ──> pattern_tree ──> nodes ──> operations, candidates ──> selection, selection_graph ──> deploy ──> rules
          algorithm 1      2         3, proofed by evidence     naive, equation 7                         in order
"""

"""undust beside its peers: each module has `run()`, which gives rows of job, ours, peer, ratio and target."""

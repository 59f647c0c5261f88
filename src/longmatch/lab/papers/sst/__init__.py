"""SST (Zhou et al., 2024): views of two documents, sampled from their common subtopics."""

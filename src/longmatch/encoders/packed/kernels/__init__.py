"""The programs that a GPU runs, in Triton. Nothing here is imported where there is no Triton."""

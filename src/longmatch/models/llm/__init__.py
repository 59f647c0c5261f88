"""A language model as judge, through any server that speaks the OpenAI-style chat protocol."""

"""The matchers: one folder a paper, the lexical ones beside them, and the default that combines their sides."""

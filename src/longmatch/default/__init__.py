"""The matcher that ships: several sides of a pair of documents, each measured against chance, in one score."""

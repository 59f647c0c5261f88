"""The index by words, phrases and document vectors: derived from the store, made again where it does not fit."""

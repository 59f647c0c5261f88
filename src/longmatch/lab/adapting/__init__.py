"""Experimental: a library's backbone learns from the library's own documents, and is used only if proven better."""

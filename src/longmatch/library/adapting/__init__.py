"""How a library's model learns from the library's own documents, and proves it before it is used."""

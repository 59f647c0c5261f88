"""Results on every surface: terminal, HTML, notebook, JSON, CSV. They read results; nothing below knows them."""

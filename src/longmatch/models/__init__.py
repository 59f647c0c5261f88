"""Models: how each is declared, and how one is opened by its name or from the folder that training wrote."""

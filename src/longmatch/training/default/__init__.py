"""How the default matcher's backbone learns what words and phrases miss, from several collections at once."""

"""A second look at the default's best documents: what it could see, and what that gains."""

"""Commands that change a library, killed at random moments: `make kills`."""

"""`python -m longmatch` is the `longmatch` command."""

from longmatch.cli.app import main

main()

"""`python -m tests.kills`."""

from tests.kills.run import main

if __name__ == "__main__":
    main()

"""The `longmatch` command, also as `python -m longmatch`."""

from longmatch.cli.interrupt import quiet_interrupts


def main() -> None:
    """Run the command; Ctrl-C ends it without a traceback already while its modules are imported."""
    quiet_interrupts()
    from longmatch.cli.app import main as run

    run()


if __name__ == "__main__":
    main()

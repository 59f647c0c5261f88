"""`python -m longmatch.lab.default`: the same as `longmatch train default`, where typer is not installed."""

import argparse
import sys
from pathlib import Path

from longmatch.errors import LongmatchError
from longmatch.lab.default.pipeline import train_default
from longmatch.lab.training.settings import read_pairs


def main() -> None:
    """Parse the command line and run the steps; a user's mistake is one sentence and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m longmatch.lab.default",
        description=train_default.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--data", type=Path, help="the folder that holds the data sets' folders")
    parser.add_argument("--out", type=Path, required=True, help="the folder for all that is made")
    parser.add_argument("--step", help="comma-separated; by default all")
    parser.add_argument("--sets", help="comma-separated names of data sets")
    parser.add_argument("--install", action="store_true", help="copy the result into the package")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, as queries=100")
    options = parser.parse_args()
    try:
        values = read_pairs(options.set)
        train_default(options.data, options.out, options.step, options.sets, options.install, **values)
    except LongmatchError as error:
        sys.stderr.write(f"longmatch: {error}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()

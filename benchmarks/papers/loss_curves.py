"""Plot the losses of trainings over their steps: thin lines for training, points for the validation split.

    python -m benchmarks.papers.loss_curves out/pretrain/smith-pretrain-wp-1 \\
        out/pretrain/smith-pretrain-wp-sp-1 --losses masked_word_loss masked_block_loss --to docs/smith-pretraining.svg

Each is a folder written by `longmatch train`, or the trainer_state.json of one of its checkpoints.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

History = Sequence[Mapping[str, Any]]


def load_history(path: Path) -> History:
    """The log of a training, step by step, from its latest checkpoint."""
    files = [path] if path.is_file() else list(path.glob("training/checkpoints/*/trainer_state.json"))
    if not files:
        raise SystemExit(f"{path} holds no checkpoint. Name a folder written by longmatch train.")
    states = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    history: History = max(states, key=lambda state: state["global_step"])["log_history"]
    return history


def curve(history: History, key: str) -> tuple[list[int], list[float]]:
    """Steps and values of a logged number; empty where it is always 0.

    >>> curve([{"step": 10, "loss": 3.0}, {"step": 10, "eval_loss": 2.5}, {"step": 20, "loss": 2.0}], "loss")
    ([10, 20], [3.0, 2.0])
    """
    points = [(int(entry["step"]), float(entry[key])) for entry in history if key in entry]
    if not any(value for _, value in points):
        return [], []
    return [step for step, _ in points], [value for _, value in points]


def plot(histories: Mapping[str, History], losses: Sequence[str], path: Path) -> None:
    """One panel per loss, one colour per training."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(losses), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, loss in zip(figure.subplots(1, len(losses), squeeze=False)[0], losses, strict=True):
        for number, (name, history) in enumerate(histories.items()):
            axes.plot(*curve(history, loss), color=f"C{number}", alpha=0.4, linewidth=1)
            steps, values = curve(history, f"eval_{loss}")
            if steps:
                axes.plot(steps, values, color=f"C{number}", marker="o", markersize=3, label=name)
        axes.set(xlabel="steps", title=loss.replace("_", " "))
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Plot, and print the last validation losses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainings", nargs="+", type=Path)
    parser.add_argument("--losses", nargs="+", default=["loss"])
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    histories = {path.stem: load_history(path) for path in options.trainings}
    plot(histories, options.losses, options.to)
    for name, history in histories.items():
        last = {key: value for entry in history for key, value in entry.items() if key.startswith("eval_")}
        print(name, json.dumps(last))


if __name__ == "__main__":
    main()

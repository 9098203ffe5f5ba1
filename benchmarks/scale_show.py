"""The tables that `scale.py` prints."""

from rich.console import Console
from rich.table import Table

from belvedere.transforms import commits


def show(results: dict) -> None:
    console = Console()
    made = (_nights(results), _past(results), _others(results), _bytes(results))
    for table in made:
        console.print(table)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title)
    for n, column in enumerate(columns):
        table.add_column(column, justify="right" if n else "left")
    return table


def _nights(results: dict) -> Table:
    table = _table(
        f"Nights, {results['classes']} classes",
        *("night", "new", "done before", "s", "CPU s", "list", "write", "commit"),
        "log",
        *("index", "peak MB", "manifest kB"),
    )
    found = results["nights"]
    named = [(str(n), one) for n, one in enumerate(found["nights"], 1)]
    named += [(name, found[name]) for name in ("again", "again without cuts")]
    for name, one in named:
        counts, parts = one["counts"], one["seconds_of"]
        new = counts["annotated"] + counts["refused"] + counts["dead"]
        table.add_row(
            *(name, f"{new:,}", f"{counts['already_done']:,}", f"{one['seconds']:.1f}"),
            f"{one['cpu_seconds']:.1f}",
            *(
                f"{parts.get(p, 0):.1f}"
                for p in ("list", "write", "commit", "log", "index")
            ),
            *(f"{one['peak_mb']:.0f}", f"{one['manifest_bytes'] / 1e3:.0f}"),
        )
    return table


def requests(one: dict) -> dict[str, int]:
    """What a night asked of disk or store, by verb and folder."""
    verbs = ("read ", "create ", "find ", "open ", "stat ")
    return {k: n for k, n in sorted(one["calls"].items()) if k.startswith(verbs)}


def _past(results: dict) -> Table:
    nights = results["past"]
    table = _table(
        "A night of the same size after so many",
        *("", *(str(one["nights"]) for one in nights), "last over first"),
    )
    rows = {
        "seconds": [one["seconds"] for one in nights],
        "CPU seconds": [one["cpu_seconds"] for one in nights],
        "log, s": [one["seconds_of"].get("log", 0) for one in nights],
        "peak MB": [one["peak_mb"] for one in nights],
    }
    for key in sorted({key for one in nights for key in requests(one)}):
        rows[key] = [requests(one).get(key, 0) for one in nights]
    for name, values in rows.items():
        ratio = f"{values[-1] / values[0]:.2f}" if values[0] else ""
        table.add_row(name, *(f"{v:,.4g}" for v in values), ratio)
    return table


def _others(results: dict) -> Table:
    table = _table("And", "what", "size", "s", "CPU s", "peak MB")
    nights = results["nights"]
    read, verified = nights["read back"], nights["verify"]
    table.add_row("reading all rows", f"{sum(read['rows'].values()):,}", *_cost(read))
    table.add_row("verify", f"{verified['tasks']:,}", *_cost(verified))
    for one in results["folders"]:
        table.add_row("planning class folders", f"{one['images']:,}", *_cost(one))
    log = results["log"]
    table.add_row("a log of units, committed", f"{log['units']:,}", *_cost(log))
    table.add_row("the same, opened", "", f"{log['open_seconds']:.2f}", "", "")
    for one in results["models"]["index"]:
        name = f"index of models after {one['trainings']} trainings"
        table.add_row(name, f"{one['models']:,}", *_cost(one))
    for name in ("few", "all"):
        one = results["models"][name]
        table.add_row(
            f"models through the cache, {one['kept']} kept",
            str(one["read"]),
            *_cost(one),
        )
    return table


def _bytes(results: dict) -> Table:
    """What `scale_estimate.py` reckons with."""
    files, log = results["nights"]["files"], results["log"]
    rows = results["nights"]["read back"]["rows"]["annotations"]
    summaries = [n for name, n in log["sizes"].items() if "-units" in name]
    units = log["units"]
    first = min(units, commits.MAX_UNITS)
    each = {name: one["bytes"] / one["files"] for name, one in files.items()}
    sizes = {
        "a row of annotations": files["annotations"]["bytes"] / rows,
        "a record": each["records"],
        "the cuts of a tar": each["cuts"],
        "a unit in a manifest": log["sizes"]["000001.json"] / first,
        "a unit in a summary": sum(summaries) / units,  # there is one, or none
        "a model": results["models"]["model_bytes"],
    }
    table = _table("Sizes", "of", "bytes")
    for name, size in sizes.items():
        table.add_row(name, f"{size:,.0f}")
    return table


def _cost(one: dict) -> tuple[str, ...]:
    return tuple(f"{one[key]:.1f}" for key in ("seconds", "cpu_seconds", "peak_mb"))

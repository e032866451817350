"""Writes docs/evaluation.md and its plots from what was measured (run) and what papers say (figures)."""
import re
import textwrap

from figures import FIGURES, NOT_RUN, PAPERS

HEAD = """# Evaluation

The experiments of four papers, repeated with Ouro. `make evaluation` measures all figures that one machine can
hold, in less than an hour on two cores, and writes this page; `make evaluation EVALUATION_ARGS='viper-8 polysi-t3'`
measures some. The names are below; [figures.py](../bench/evaluation/figures.py) has the settings and the
published numbers as data. Every sweep is one command, [`ouro bench`](reference.md#ouro-bench), and the commands of
the rows repeat each point by hand.

How to read it:

- *CPU s* are seconds of all threads, in user and kernel mode, of a whole process that loads and checks; that
  other programs run on the machine matters little to them; about 0.014 s are the start of the program. *Check s* are
  seconds of the clock of the check alone, so they say little where the *load* (how many processes wanted a core) is
  above the number of cores.
- *Published* numbers were measured by the papers' authors, on other machines and on histories that real databases
  made; ours are of the simulated store. Only numbers in the text or a table of a paper are here, none is read off a
  picture. So they show orders of magnitude.
- Rivals that package registries have were measured on the same histories and the same machine: adya (crates.io),
  Porcupine (Go's proxy), and baselines with Z3. The others have their published numbers only.
- Stages and search are explained in [json.md](json.md#stages-and-the-search).
"""

UNITS = {"cpu": "CPU s", "peak": "peak MB", "rate": "transactions a CPU second", "share": "%"}
# The same colours for Ouro and for others in light and dark.
COLOURS = ["#3b6ea5", "#a5543b", "#4c9a5b", "#8a5aa8", "#b08a2e", "#4aa3a8", "#b0557f"]
INK = "#123456"  # Replaced by the colour of the theme.
GRID = "#654321"
STYLE = """<style>:root{--ink:#222;--grid:#ddd}
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--grid:#444}}</style>"""


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def series_of(figure, rows):
    """By series: the points (x, value) of what the figure shows."""
    found = {}
    for row in rows:
        value = row.get(figure["what"])
        if value is not None and row["verdict"] not in ("timed out", "error", "undecided"):
            found.setdefault(row["series"], []).append((row["x"], value))
    return found


def published(figure):
    found = {}
    for name, x, value, _ in figure["published"]:
        if number(value) is not None:
            found.setdefault(f"{name} (published)", []).append((x, value))
    return found


def draw_lines(axes, figure, ours, theirs):
    axis = figure["x"]
    categories = axis is None or any(number(x) is None for points in ours.values() for x, _ in points)
    names = []
    for points in (*ours.values(), *theirs.values()):
        names += [str(x) for x, _ in points if str(x) not in names]
    place = (lambda x: names.index(str(x))) if categories else number
    for i, (name, points) in enumerate((*ours.items(), *theirs.items())):
        other = name in theirs
        style = {"marker": "x" if other else "o", "color": COLOURS[i % len(COLOURS)],
                 "linestyle": "none" if categories or len(points) == 1 else "--" if other else "-"}
        points = sorted((place(x), value) for x, value in points if place(x) is not None)
        axes.plot([x for x, _ in points], [value for _, value in points], label=name, **style)
    if categories:
        axes.set_xticks(range(len(names)), names, rotation=25, ha="right")
        axes.set_xlim(-0.5, len(names) - 0.5)
    elif "x" in figure["log"]:
        axes.set_xscale("log")
    if "y" in figure["log"]:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(axis[1] if axis else "")
    axes.set_ylabel(UNITS[figure["what"]])


def draw_stages(axes, rows):
    names = []
    for row in rows:
        names += [stage for stage in row["stages"] if stage not in names]
    bottom = [0.0] * len(rows)
    for i, stage in enumerate(names):
        heights = [row["stages"].get(stage, 0) for row in rows]
        axes.bar(range(len(rows)), heights, 0.6, bottom, label=stage, color=COLOURS[i % len(COLOURS)],
                 alpha=1 if i < len(COLOURS) else 0.5)
        bottom = [a + b for a, b in zip(bottom, heights)]
    axes.set_xticks(range(len(rows)), [row["x"] for row in rows], rotation=25, ha="right")
    axes.set_ylabel("seconds")


def draw(figure, rows, path):
    """Draws one figure as SVG that fits light and dark pages. Returns whether there is anything to draw."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    pyplot.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "ouro", "font.family": "sans-serif", "font.size": 10,
        **{name: INK for name in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color",
                                  "ytick.color", "legend.labelcolor")},
        "grid.color": GRID, "axes.grid": True, "axes.grid.axis": "y", "legend.frameon": False})
    ours, theirs = series_of(figure, rows), published(figure)
    if figure["what"] == "search" or (figure["what"] != "stages" and not ours):
        return False
    chart, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    if figure["what"] == "stages":
        draw_stages(axes, rows)
    else:
        draw_lines(axes, figure, ours, theirs)
    axes.set_title(textwrap.fill(title(figure), 80), fontsize=10)
    axes.legend(fontsize=8)
    chart.savefig(path, transparent=True, metadata={"Date": None})
    pyplot.close(chart)
    text = path.read_text(encoding="utf-8")
    text = text.replace(INK, "var(--ink)").replace(GRID, "var(--grid)")
    path.write_text(re.sub(r"(<svg[^>]*>)", lambda found: found.group(1) + STYLE, text, count=1),
                    encoding="utf-8")
    return True


def title(figure):
    paper = PAPERS.get(figure["paper"], ("Rivals",))[0]
    return f"{paper}, {figure['number']}: {figure['title']}" if figure["paper"] else (
        f"{figure['number']}: {figure['title']}")


def cell(value):
    if value is None or value == "":
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
    return str(value)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell(value).replace("|", "\\|") for value in row) + " |" for row in rows]
    return "\n".join(lines)


def our_table(figure, result, machines):
    what = figure["what"]
    axis = figure["x"][1] if figure["x"] else "history"
    header = ["", axis, "verdict"]
    if what == "search":
        header += ["pairs", "choices", "decisions", "conflicts"]
    elif what == "stages":
        header += ["CPU s", "stages, s"]
    else:
        header += [UNITS[what]]
        header += ["check s", "peak MB"] if what == "cpu" else []
    rows = []
    for row in result["rows"]:
        cells = [row["series"], row["x"], row["verdict"]]
        if what == "search":
            cells += [f"{row['search'][name]:,}" for name in ("pairs", "choices", "decisions",
                                                             "conflicts")]
            cells[3:3] = []
        elif what == "stages":
            cells += [row["cpu"], ", ".join(f"{name} {seconds:.3f}"
                                            for name, seconds in row["stages"].items())]
        else:
            cells += [row.get(what)]
            cells += [row.get("check"), round(row["peak"]) if "peak" in row else None] if (
                what == "cpu") else []
        rows.append([*cells, f"{machines[result['machine']]}, load {result['load']}", result["date"], f"`{row['command']}`"])
    return table([*header, "machine", "date", "command"], rows)


def thinned(rows, most=24):
    """Long series of a table, such as memory by the second, at evenly spaced points."""
    step = max(1, -(-len(rows) // most))
    return rows[::step]


def section(figure, result, machines, image):
    lines = [f"### {figure['id']}", "", f"{title(figure)}."]
    if figure.get("note"):
        lines += ["", figure["note"]]
    if result is None:
        return "\n".join([*lines, "", "Not measured yet.", *their_table(figure)]) + "\n"
    if result.get("how"):
        lines += ["", result["how"]]
    if image:
        lines += ["", f"![{title(figure)}](figures/evaluation/{figure['id']}.svg)"]
    few = dict(result, rows=result["rows"] if figure["x"] is None or len(result["rows"]) < 40
               else thinned(result["rows"]))
    lines += ["", our_table(figure, few, machines), *their_table(figure)]
    return "\n".join(lines) + "\n"


def their_table(figure):
    if not figure["published"]:
        return ["", "The text of the paper has no numbers of this figure."] if figure["paper"] else []
    rows = [[name, "all" if x == "all" else x, value, f"{PAPERS[figure['paper']][0]}, {where}"]
            for name, x, value, where in figure["published"]]
    axis = figure["x"][1] if figure["x"] else "history"
    return ["", "Published:", "", table(["", axis, "said", "where"], rows)]


def write(docs, results):
    """Writes the page, and the plots if matplotlib is there."""
    folder = docs / "figures" / "evaluation"
    machines = {}
    for result in results.values():
        machines.setdefault(result["machine"], f"M{len(machines) + 1}")
    parts = [HEAD, "Machines: " + "; ".join(f"{name}: {text}" for text, name in machines.items()) + ".\n"]
    parts.append("The papers' machines: " +
                 "; ".join(f"{name} ({venue}): {text}" for name, venue, text in PAPERS.values()) + ".\n")
    heading = None
    try:
        import matplotlib  # noqa: F401
        can_draw = True
    except ImportError:
        can_draw = False
    for figure in FIGURES:
        paper = PAPERS[figure["paper"]][0] if figure["paper"] else "Rivals from registries"
        if paper != heading:
            parts.append(f"## {paper}\n")
            heading = paper
        result = results.get(figure["id"])
        path = folder / f"{figure['id']}.svg"
        if result is not None and can_draw:
            draw(figure, result["rows"], path)
        parts.append(section(figure, result, machines, path.exists()))
    parts.append("## What is not here\n")
    parts.append("\n".join(f"- {what}: {why}." for what, why in NOT_RUN) + "\n")
    (docs / "evaluation.md").write_text("\n".join(parts), encoding="utf-8")

import contextlib
import io
import json
from pathlib import Path

import ouro

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TUTORIALS = Path(__file__).resolve().parents[3] / "docs" / "tutorials.md"


def test_the_notebook_runs_and_says_what_it_promises():
    notebook = json.loads((EXAMPLES / "lost_update.ipynb").read_text())
    names = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    assert names["verdict"].violated
    assert ouro.check(names["folder"] / "history.jsonl").holds
    assert "['prefix'] lost update" in printed.getvalue()


def test_the_tutorial_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    blocks = {}
    for part in TUTORIALS.read_text().split("\n```python")[1:]:
        name, _, text = part.partition("\n")
        blocks[name.strip()] = text[:text.index("```")]
    for name in ("recorded.py", "shop.py"):
        (tmp_path / name).write_text(blocks[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    exec(blocks["shop.py"], {})
    exec(blocks[""], {})
    assert capsys.readouterr().out == "violated lost update\n"
    assert "# violated lost update\n" in blocks[""]

import contextlib
import io
import json
from pathlib import Path

import ouro

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


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

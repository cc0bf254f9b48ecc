# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What somebody does in the first minute after `pip install ttmem-*.whl`; runs in that environment.

  first_minute.py [FOLDER]     FOLDER has the package ttnn, which is then recorded on a mock chip

Prints what was seen as one line of JSON; ends with an error where something is not as it should be.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import urllib.request

BIN = os.path.dirname(sys.executable)
SHARE = os.path.join(os.path.dirname(BIN), "share")
TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def run(*command, accepted=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    assert done.returncode in accepted, f"{command}: {done.returncode}\n{done.stdout}"
    return done.stdout


def ttmem(*arguments, **settings):
    return run(os.path.join(BIN, "ttmem"), *arguments, **settings)


def verdicts():
    """{id: [verdict …]} of `ttmem doctor`, each with what to do unless it passed."""
    found = {}
    for check in json.loads(ttmem("doctor", "--json", accepted=(0, 1)))["checks"]:
        assert check["verdict"] == "PASS" or check["remedy"], check
        found.setdefault(check["id"], []).append(check["verdict"])
    return found


def see_the_commands():
    assert ttmem("--version") == run(sys.executable, "-m", "ttmem", "--version")
    assert "no process is recorded" in ttmem()
    for name in ("man/man1/ttmem.1", "bash-completion/completions/ttmem", "zsh/site-functions/_ttmem",
                 "fish/vendor_completions.d/ttmem.fish"):
        assert os.path.getsize(os.path.join(SHARE, name)), name
    assert "Usage: tt_smi_umd " in run(os.path.join(BIN, "tt_smi_umd"), "--help")


def see_the_daemon():
    """The page and the metrics, over HTTP."""
    daemon = subprocess.Popen([os.path.join(BIN, "ttmem"), "serve", "--http", "127.0.0.1:0", "--legacy-socket", "off",
                               "--history", "off"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    try:
        line = next(line for line in daemon.stdout if "http://" in line)
        address = "http://" + line.split("http://", 1)[1].split()[0].strip("/,.\"'")
        with urllib.request.urlopen(address + "/") as page:
            assert b"<title>" in page.read()
        with urllib.request.urlopen(address + "/metrics") as metrics:
            assert b"ttmem_self_requests_total" in metrics.read()
    finally:
        daemon.kill()
        daemon.wait()


def compare_with_ttnn(packages):
    """Every step of the real runtime, compared to the byte; without operations, which need a kernel compiler."""
    site = next(path for path in sys.path if path.endswith("site-packages"))
    with open(os.path.join(site, "ttnn.pth"), "w", encoding="utf-8") as file:
        file.write(packages + "\n")
    sys.path[:0] = [TESTS, os.path.join(TESTS, "runtime")]
    import cluster_descriptors
    import oracle
    oracle.TTMEM = os.path.join(BIN, "ttmem")
    boards = os.path.join(os.getcwd(), "boards")
    cluster_descriptors.write_all(boards)
    values = dict(os.environ, TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(boards, "n150.yaml"), TT_LOGGER_LEVEL="fatal",
                  TT_METAL_CACHE=os.path.join(os.getcwd(), "kernels"), TTMEM_WITHOUT_OPERATIONS="1")
    comparison = oracle.Comparison("ttnn on a mock N150")
    client = [sys.executable, os.path.join(TESTS, "runtime", "ttnn_client.py"), "1", "1"]
    with oracle.running(client, values) as running:
        for point in running.checkpoints():
            comparison.check(point)
    comparison.must_agree()
    return comparison.count


def main():
    sys.dont_write_bytecode = True
    seen = {"user": os.getuid(), "python": platform.python_version(), "libc": " ".join(platform.libc_ver()),
            "compilers": [name for name in ("cc", "gcc", "g++", "clang", "make", "cmake") if shutil.which(name)]}
    see_the_commands()
    see_the_daemon()
    if len(sys.argv) > 1:
        seen["figures"] = compare_with_ttnn(sys.argv[1])
    found = verdicts()
    assert found["directory"] == found["room"] == found["preload"] == ["PASS"], found
    print(json.dumps({**seen, **found}))


if __name__ == "__main__":
    main()

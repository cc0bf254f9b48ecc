# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem fit` from outside: the sizes, lists of weights, meshes, the largest batch."""

import json
import struct

import pytest

from support import command


def fit(*words):
    done = command.run("fit", *words, "--json")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    assert found["fits"] == (done.returncode == 0)
    return found


def test_a_tensor_on_an_empty_board():
    found = fit("--shape", "1024,1024", "--board", "n150")
    tensor, = found["tensors"]
    assert (tensor["requested"], tensor["block"], tensor["taken"]) == (2097152, 176128, 2113536)
    assert found["empty"] and found["fits"] and tensor["address"] is not None
    text = command.text("fit", "--shape", "1024,1024", "--board", "n150")
    assert text.startswith("Fits into an empty n150\n") and "176,128" in text


def test_what_does_not_fit():
    found = fit("--shape", "100000,100000", "--board", "n150")
    assert not found["fits"] and found["tensors"][0]["address"] is None


def test_a_shard_on_a_grid():
    found = fit("--shape", "2048,64", "--memory", "l1", "--shard", "height", "--shard-shape", "32,64",
                "--grid", "8x8", "--arch", "wormhole_b0")
    assert found["tensors"][0]["block"] == 4096


def test_a_mesh_has_a_part_each():
    words = ("--shape", "1,32,4096,4096", "--dtype", "bfloat8_b", "--board", "t3k", "--mesh", "2x4")
    whole = fit(*words, "--replicate")
    part = fit(*words, "--shard-dim", "-1")
    assert whole["chips"] == part["chips"] == 8
    assert part["tensors"][0]["shape"] == [1, 32, 4096, 512]
    assert part["tensors"][0]["requested"] * 8 == whole["tensors"][0]["requested"]


def safetensors(path):
    header = {"__metadata__": {"format": "pt"},
              "w": {"dtype": "BF16", "shape": [1024, 1024], "data_offsets": [0, 2097152]}}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)  # the data are never read


def as_csv(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("name,shape,dtype,layout,memory\nw,1024x1024,bfloat16,tile,dram\n")


def as_json(path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"name": "w", "shape": [1024, 1024], "dtype": "bfloat16"}], file)


@pytest.mark.parametrize(("write", "path"), [(safetensors, "w.safetensors"), (as_csv, "w.csv"), (as_json, "w.json")])
def test_a_list_of_weights(write, path):
    write(path)
    tensor, = fit("--file", path, "--board", "n150")["tensors"]
    assert (tensor["name"], tensor["block"]) == ("w", 176128)
    smaller, = fit("--file", path, "--dtype", "bfloat8_b", "--board", "n150")["tensors"]
    assert smaller["block"] == 93568


@pytest.mark.parametrize("content", [b"", b"\xff" * 40, b"{", b"[1,2]", b"\x00" * 8, struct.pack("<Q", 1 << 60)])
def test_a_broken_list_is_refused_with_a_reason(content):
    for path in ("list.json", "list.safetensors"):
        with open(path, "wb") as file:
            file.write(content)
        done = command.run("fit", "--file", path, "--board", "n150")
        assert done.returncode == 2, (path, content, done.stdout)
        assert done.stderr.startswith("ttmem: ")


def test_the_largest_batch():
    words = ("--shape", "batch,32,4096,128", "--solve", "batch", "--board", "n150")
    found = fit(*words)
    largest = found["solved"]
    assert fit("--shape", f"{largest},32,4096,128", "--board", "n150")["fits"]
    assert not fit("--shape", f"{largest + 1},32,4096,128", "--board", "n150")["fits"]


def test_on_the_device_as_it_is():
    with command.workload():
        found = fit("--shape", "32,32", "--device", "0")
    assert not found["empty"] and "device 0 as process" in found["device"]


@pytest.mark.parametrize("words", [
    [], ["--shape", "a,b"], ["--shape", "4,,4"], ["--shape", "batch,4", "--board", "n150"],
    ["--shape", "4,4", "--solve", "batch", "--board", "n150"], ["--shape", "4,4", "--grid", "x", "--board", "n150"],
])
def test_wrong_usage(words):
    assert command.run("fit", *words).returncode == 2


def test_no_device_is_said():
    done = command.run("fit", "--shape", "32,32")
    assert done.returncode == 1 and "--board n150" in done.stderr


@pytest.mark.parametrize(("words", "why"), [
    (("--board", "n150", "--arch", "blackhole"), "there is no such board"),
    (("--board", "t3k", "--mesh", "2x4", "--shard-dim", "5"), "there is no dimension 5 to shard"),
    (("--board", "t3k", "--shard-dim", "0"), "--mesh"),
])
def test_what_contradicts_itself_is_refused(words, why):
    done = command.run("fit", "--shape", "64,64", *words)
    assert done.returncode != 0 and done.stdout == "" and why in done.stderr

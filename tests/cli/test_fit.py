# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem fit` from outside: the sizes, lists of weights, meshes, the largest batch."""

import json
import struct

import pytest

from support import command
from support.stage import staged


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


@pytest.mark.parametrize(("board", "chips"), [
    ("n150", 1), ("n300", 2), ("t3k", 8), ("galaxy", 32), ("p150", 1), ("p300", 2),
])
def test_a_mesh_has_no_more_chips_than_the_board(board, chips):
    assert fit("--shape", "64,64", "--board", board, "--mesh", f"1x{chips}")["chips"] == chips
    done = command.run("fit", "--shape", "64,64", "--board", board, "--mesh", f"2x{chips}")
    assert (done.returncode, done.stdout) == (2, "")
    plural = "" if chips == 1 else "s"
    assert f"--mesh 2x{chips} is {2 * chips} chips, but {board} has {chips} chip{plural}" in done.stderr


def test_an_architecture_alone_does_not_limit_the_mesh():
    assert fit("--shape", "64,64", "--arch", "blackhole", "--mesh", "2x4")["chips"] == 8


def test_shards_that_the_runtime_refuses_do_not_fit():
    words = ("--memory", "l1", "--shard", "height", "--shard-shape", "32,64", "--board", "n150")
    tensor, = fit("--shape", "1,1,1024,1024", *words)["tensors"]
    assert tensor["problem"] == "the shards are 64 wide, the tensor is 1024 wide"
    assert tensor["taken"] is None and not tensor["fits"]
    assert "but only 64 cores" in command.run("fit", "--shape", "4096,64", *words).stdout


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
        assert done.stderr.startswith(f"ttmem: {path}: ")


@pytest.mark.parametrize(("row", "why"), [
    ("w,64x64,bfloat16,tiles,dram", "not tiles"), ("w,64x64,bfloat16,tile,l2", "not l2"),
    ("w,64x64,f8_e4m3,tile,dram", "--dtype"), ("w,,bfloat16,tile,dram", "w: a shape is numbers"), (" ", "no tensor"),
])
def test_a_row_that_is_not_understood_is_not_guessed(row, why):
    with open("w.csv", "w", encoding="utf-8") as file:
        file.write(f"name,shape,dtype,layout,memory\n{row}\n\n")
    done = command.run("fit", "--file", "w.csv", "--board", "n150")
    assert done.returncode == 2 and done.stderr.startswith("ttmem: w.csv: ") and why in done.stderr


def listed(text):
    with open("w.csv", "w", encoding="utf-8") as file:
        file.write(text)
    return command.run("fit", "--file", "w.csv", "--board", "n150", "--json")


@pytest.mark.parametrize("text", [
    "name,shape,layout,dtype,memory\nlm head,64x32,row_major,float32,l1\n",
    "shape,name,memory,layout,dtype\n64x32,lm head,l1,row_major,float32\n",
    '\ufeffmemory, layout ,dtype,"shape",name\r\n\r\nl1,row_major, float32,"[64, 32]", lm head \r\n',
    "lm head,64x32,float32,row_major,l1",
])
def test_columns_go_by_their_names(text):
    tensor, = json.loads(listed(text).stdout)["tensors"]
    assert (tensor["name"], tensor["shape"], tensor["dtype"], tensor["layout"], tensor["space"]) == (
        "lm head", [64, 32], "float32", "row_major", "l1")


@pytest.mark.parametrize("header", [
    "tensor,dims,type", "name,shape,type", "name,dtype", "name,shape,shape", "name,shape,",
])
def test_columns_of_other_names_are_not_guessed(header):
    done = listed(f"{header}\nw,64x64,bfloat16\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ttmem: w.csv: the columns are name,shape,dtype,layout,memory\n"


@pytest.mark.parametrize(("text", "cells", "columns"), [
    ("name,shape,dtype\n\nw,1,32,64\n", 4, 3), ("v,8x8\n\nw,1,32,64,32,64\n", 6, 5),
])
def test_a_row_of_too_many_cells_is_named(text, cells, columns):
    done = listed(text)
    assert done.returncode == 2 and done.stdout == ""
    assert f"w.csv: line 3 (w) has {cells} cells for {columns} columns" in done.stderr


def test_a_scalar_among_the_weights_takes_one_tile():
    with open("w.json", "w", encoding="utf-8") as file:
        json.dump([{"name": "tracked", "shape": [], "dtype": "I64"}, {"name": "w", "shape": [64, 64]}], file)
    scalar, _ = fit("--file", "w.json", "--board", "n150")["tensors"]
    assert scalar["block"] == 4096  # 32 x 32 of int32


def test_the_largest_batch():
    words = ("--shape", "batch,32,4096,128", "--solve", "batch", "--board", "n150")
    found = fit(*words)
    largest = found["solved"]
    assert fit("--shape", f"{largest},32,4096,128", "--board", "n150")["fits"]
    assert not fit("--shape", f"{largest + 1},32,4096,128", "--board", "n150")["fits"]


def test_only_one_word_can_be_solved_for():
    done = command.run("fit", "--shape", "batch,8,seq,128", "--solve", "seq", "--board", "n150")
    assert done.returncode == 2 and "batch and seq are both words" in done.stderr


def test_any_word_can_be_solved_for():
    found = fit("--shape", "1,max_seq,128", "--solve", "max_seq", "--board", "n150")
    assert found["variable"] == "max_seq" and found["solved"] > 1000000


def test_cores_that_the_board_does_not_have():
    words = ("--memory", "l1", "--shard", "height", "--shard-shape", "32,64", "--grid", "9x8", "--shape", "64,64")
    assert fit(*words, "--board", "p150")["fits"]
    tensor, = fit(*words, "--board", "n150")["tensors"]
    assert tensor["problem"] == "the device has a grid of 8x8 cores, not of 9x8" and not tensor["fits"]
    tensor, = fit(*words[:-3], "16x1", "--shape", "512,64", "--board", "n150")["tensors"]
    assert tensor["problem"] == "the device has a grid of 8x8 cores, not of 16x1"


def test_a_part_of_a_grid():
    words = ("--memory", "l1", "--shard", "height", "--shard-shape", "32,64", "--grid", "8x3", "--board", "n150")
    assert fit(*words, "--cores", "20", "--shape", "640,64")["fits"]
    tensor, = fit(*words, "--cores", "20", "--shape", "672,64")["tensors"]
    assert tensor["problem"] == "21 shards along the height, but only 20 cores"
    done = command.run("fit", *words, "--cores", "25", "--shape", "640,64")
    assert done.returncode == 2 and "--cores 25: a grid of 8x3 has only 24" in done.stderr


def test_on_the_device_as_it_is():
    with command.workload():
        found = fit("--shape", "32,32", "--device", "0")
    assert not found["empty"] and "device 0 as process" in found["device"]


def test_of_two_processes_the_one_that_holds_most_or_the_one_that_is_named():
    with staged() as many, staged() as much:
        for play in (many, much):
            play("open", count=1)
        much("allocate", id=9, address=1 << 21, block=1 << 20)
        for number in range(3):
            many("allocate", id=number + 1, address=(number + 64) << 15, block=1 << 14)
        assert fit("--shape", "32,32", "--device", "0")["device"].endswith(f"process {much.pid} has it")
        words = ("--shape", "32,32", "--pid", str(many.pid))
        assert fit(*words)["device"] == f"device 0 as process {many.pid} has it"
        assert command.run("fit", *words, "--board", "n150").returncode == 2
    done = command.run("fit", "--shape", "32,32", "--pid", "999999")
    assert done.returncode == 1 and "999999" in done.stderr


@pytest.mark.parametrize("words", [("--l1-small", "32768"), ("--trace-region", "1048576")])
def test_regions_of_an_empty_device_are_not_of_one_in_use(words):
    with command.workload():
        done = command.run("fit", "--shape", "32,32", *words)
        assert done.returncode == 2 and f"{words[0]} is of an empty device" in done.stderr
        assert "--board n150" in done.stderr
        assert command.run("fit", "--shape", "32,32", "--device", "0", *words).returncode == 2
        assert fit("--shape", "32,32", "--board", "n150", *words)["fits"]


@pytest.mark.parametrize("words", [
    ["--shape", "4,4", "--mesh", "0x4", "--board", "t3k"], ["--shape", "4,4", "--mesh", "8", "--board", "t3k"],
    [], ["--shape", "a,b"], ["--shape", "4,,4"], ["--shape", "batch,4", "--board", "n150"],
    ["--shape", "4,4", "--solve", "batch", "--board", "n150"], ["--shape", "4,4", "--grid", "x", "--board", "n150"],
    ["--shape", "batch,4", "--solve", "sequence", "--board", "n150"],
    ["--shape", "4,4", "--grid", "8x8", "--board", "n150"], ["--shape", "4,4", "--shard-shape", "4,4", "--board", "n150"],
    ["--shape", "4,4", "--shard", "height", "--board", "n150"], ["--shape", "4,4", "--board", "n150", "--device", "0"],
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

# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What a tensor would take on a device, and whether it would fit, before it is made."""

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import command
from .figures import DeviceLike, metal_ids

Number = Union[int, str]


def fit(
    shape: Sequence[Number],
    dtype: Any = "bfloat16",
    layout: Any = "tile",
    memory_config: Any = "dram",
    device: Optional[DeviceLike] = None,
    board: Optional[str] = None,
    mesh: Optional[Tuple[int, int]] = None,
    shard_dim: Optional[int] = None,
    solve: Optional[str] = None,
) -> Dict[str, Any]:
    """The document of `ttmem fit --json`; docs/json.md has every field.

    `dtype`, `layout` and `memory_config` may be those of ttnn, or words: "bfloat8_b", "row_major",
    "l1"; `device` may be one of ttnn. Without `device` and `board` it is asked about the first device that is in use. A word in
    the shape, named by `solve` as well, is solved for: `fit(("batch", 32, 4096), solve="batch")`.

        if not ttmem.fit((1, 32, 4096, 4096), dtype=ttnn.bfloat8_b, board="n150")["fits"]: ...
    """
    words = ["fit", "--shape", ",".join(str(length) for length in shape)]
    words += ["--dtype", _word(dtype), "--layout", _layout(layout)]
    words += _memory(memory_config)
    if device is not None:
        words += ["--device", str(metal_ids(device)[0])]
    if board is not None:
        words += ["--board", board]
    if mesh is not None:
        words += ["--mesh", f"{mesh[0]}x{mesh[1]}"]
    if shard_dim is not None:
        words += ["--shard-dim", str(shard_dim)]
    if solve is not None:
        words += ["--solve", solve]
    return command.document(*words, accepted=(0, 1))


def _word(value: Any) -> str:
    """ "bfloat8_b" of "bfloat8_b", ttnn.bfloat8_b and torch.bfloat16 alike."""
    return str(getattr(value, "name", value)).rsplit(".", maxsplit=1)[-1].lower()


def _layout(value: Any) -> str:
    return _word(value).replace("_layout", "")


def _memory(value: Any) -> List[str]:
    if isinstance(value, str):
        return ["--memory", value]
    words = ["--memory", _word(value.buffer_type)]
    nd = getattr(value, "nd_shard_spec", None)
    kind = _word(value.memory_layout).replace("_sharded", "")
    shard = getattr(value, "shard_spec", None)
    if shard is not None and kind in ("height", "width", "block"):
        where = _grid_of_blocks(shard) if kind == "block" else _cores(shard.grid)
        return words + _shards(kind, list(shard.shape)) + where
    if nd is not None:
        return words + _shards("nd", list(nd.shard_shape)) + _cores(_grid_of(nd))
    return words


def _grid_of(nd: Any) -> Any:
    return nd.core_ranges if hasattr(nd, "core_ranges") else nd.grid


def _cores(cores: Any) -> List[str]:
    """So many, in the grid from core 0,0 to the last of them, which the device must have."""
    last = cores.bounding_box().end
    return ["--grid", f"{last.x + 1}x{last.y + 1}", "--cores", str(cores.num_cores())]


def _grid_of_blocks(shard: Any) -> List[str]:
    """Shards by block lie in columns and rows; in column major order the two are changed over."""
    size = shard.grid.bounding_box().grid_size()
    turned = _word(shard.orientation) == "col_major"
    return ["--grid", f"{size.y}x{size.x}" if turned else f"{size.x}x{size.y}"]


def _shards(kind: str, shape: List[int]) -> List[str]:
    return ["--shard", kind, "--shard-shape", ",".join(str(length) for length in shape)]

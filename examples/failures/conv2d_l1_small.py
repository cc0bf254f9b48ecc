# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""L1_SMALL is too small: a convolution keeps its tables there."""

import ttnn

import gallery

VERDICT = "l1_small"
SETTINGS = {"l1_small_size": 64}


def run(device, cure=None):
    x = ttnn.ones((1, 1, 64 * 64, 64), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    weight = ttnn.Tensor([1.0] * (64 * 64 * 9), [64, 64, 3, 3], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT)
    settings = {}
    if cure and cure["kind"] == "conv_config":
        settings["conv_config"] = ttnn.Conv2dConfig(config_tensors_in_dram=True)
    return ttnn.conv2d(
        input_tensor=x, weight_tensor=weight, device=device, in_channels=64, out_channels=64, batch_size=1,
        input_height=64, input_width=64, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), **settings)


if __name__ == "__main__":
    gallery.main(run, SETTINGS)

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Tensors by the list: the weights of a model as CSV, as JSON, or in the header of a safetensors
// file, whose data are not read. Shapes may have one word in the place of a number: the variable
// that is solved for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "explain/tensor.hpp"

namespace ttmem::cli {

// A length is a number, or (0) the variable.
struct ListedTensor {
  explain::TensorSpec tensor;
  std::vector<bool> is_variable;  // one a dimension
};

// "1,32,4096", "1x32x4096", "batch,32". The first word that is no number becomes `variable`; a
// second, other one is an error.
Result<ListedTensor> parse_shape(const std::string& text, std::string& variable);

// What the file has; what a row leaves open is taken from `usual`.
Result<std::vector<ListedTensor>> read_weight_list(const std::string& path,
                                                   const explain::TensorSpec& usual,
                                                   bool type_is_given, std::string& variable);

std::vector<explain::TensorSpec> with_value(const std::vector<ListedTensor>& tensors,
                                            std::uint64_t value);

}  // namespace ttmem::cli

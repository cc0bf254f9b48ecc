// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A program that was compiled against the original's client and linked with ours. It takes the
// calls of tests/serve/legacy_client.py as words, one call per line: "alloc 0 1048576 1 1".
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

#include "original_client.hpp"

namespace {

using tt::tt_metal::AllocationClient;

void make(const std::string& call, std::istream& words) {
  int device = 0;
  std::uint64_t first = 0, second = 0, third = 0;
  words >> device >> first >> second >> third;
  if (call == "alloc") {
    AllocationClient::report_allocation(device, first, static_cast<std::uint8_t>(second), third);
  } else if (call == "free") {
    AllocationClient::report_deallocation(device, first);
  } else if (call == "cb_alloc") {
    AllocationClient::report_cb_allocation(device, first, second);
  } else if (call == "cb_free") {
    AllocationClient::report_cb_deallocation(device, first, second);
  } else if (call == "load") {
    AllocationClient::report_kernel_load(device, first, second, static_cast<std::uint8_t>(third));
  } else if (call == "unload") {
    AllocationClient::report_kernel_unload(device, first, second);
  } else {
    std::cerr << "no such call: " << call << "\n";
  }
}

}  // namespace

int main() {
  if (!AllocationClient::is_enabled()) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string call;
    words >> call;
    make(call, words);
    std::cout << "ok" << std::endl;
  }
  return 0;
}

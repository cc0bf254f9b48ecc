// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What readers say about the process that runs the test. Each test uses a device number of its own,
// so that tests may share a process.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collect/collector.hpp"
#include "support/temporary_directory.hpp"

// A directory for this process's segment; call it before anything is recorded.
inline const std::string& segment_directory() {
  static const ttmem::support::TemporaryDirectory directory;
  [[maybe_unused]] static const bool once = [] {
    setenv("TTMEM_DIR", directory.path().c_str(), 1);
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 0);
    return true;
  }();
  return directory.path();
}

class WaysIn : public testing::Test {
 protected:
  static void SetUpTestSuite() { segment_directory(); }

  static ttmem::collect::Collector look() {
    ttmem::collect::Options options;
    options.directories = {segment_directory()};
    options.process = ttmem::ledger::ProcessSelector{getpid(), {}, {}};
    ttmem::collect::Collector collector(options);
    collector.refresh();
    return collector;
  }

  static ttmem::ledger::DeviceFigures figures(std::int32_t metal_id) {
    const ttmem::collect::Collector collector = look();
    for (const auto& process : collector.snapshot().processes) {
      for (const auto& device : process.devices) {
        if (device.metal_id == metal_id) return device.figures;
      }
    }
    ADD_FAILURE() << "no device " << metal_id;
    return {};
  }

  static std::vector<ttmem::ledger::HoldingView> holdings(std::int32_t metal_id) {
    const ttmem::collect::Collector collector = look();
    std::optional<std::uint32_t> id;
    for (const auto& process : collector.snapshot().processes) {
      for (const auto& device : process.devices) {
        if (device.metal_id == metal_id) id = device.id;
      }
    }
    std::vector<ttmem::ledger::HoldingView> found;
    collector.holdings([&](const ttmem::ledger::HoldingView& one) {
      for (const std::uint32_t device : one.devices) {
        if (id == device) found.push_back(one);
      }
    });
    return found;
  }

  static std::vector<std::uint64_t> anomalies() {
    const ttmem::collect::Collector collector = look();
    return collector.snapshot().processes.at(0).tracking.anomalies;
  }
};

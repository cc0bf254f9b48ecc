// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

#include "scene.hpp"

namespace ttmem::runtime {

namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

/// Runs what must throw; a scene that does not fail where it should is worthless.
template <typename Action>
void expect_failure(const char* what, Action&& action) {
  try {
    action();
  } catch (const std::exception&) {
    return;
  }
  std::cerr << "host: " << what << " did not fail\n";
  std::exit(1);
}

/// Allocates and frees at random, with requests among them that cannot be satisfied.
void churn(const Mesh& mesh, unsigned seed, std::vector<BufferHandle>& kept) {
  std::mt19937 random(seed);
  for (int i = 0; i < 400; ++i) {
    if (kept.size() > 20) kept.erase(kept.begin() + random() % kept.size());
    if (random() % 20 == 0) {
      expect_failure("64 GiB", [&] { mesh.interleaved(BufferType::DRAM, 64 * kKiB * kMiB, 2048); });
    } else if (random() % 4 == 0) {
      kept.push_back(mesh.sharded(BufferType::L1, 1 + random() % 4, 1 + random() % 2));
    } else {
      const auto type = random() % 4 ? BufferType::DRAM : BufferType::L1;
      kept.push_back(mesh.interleaved(type, 2048 * (1 + random() % 64), 2048));
    }
  }
}

}  // namespace

void play_buffers(Mesh& mesh) {
  mesh.checkpoint("open");
  auto dram = mesh.interleaved(BufferType::DRAM, 2 * kMiB, 2048);
  mesh.checkpoint("dram interleaved");
  auto l1 = mesh.interleaved(BufferType::L1, 512 * kKiB, 2048);
  mesh.checkpoint("l1 interleaved");
  auto odd = mesh.interleaved(BufferType::DRAM, 20 * 7, 20);
  auto odd_l1 = mesh.interleaved(BufferType::L1, 200 * 3, 200);
  mesh.checkpoint("odd pages");
  auto sharded = mesh.sharded(BufferType::L1, 4, 16);
  mesh.checkpoint("l1 sharded");
  auto dram_sharded = mesh.sharded(BufferType::DRAM, 1, 8);
  mesh.checkpoint("dram sharded");
  auto tiny = mesh.sharded(BufferType::L1_SMALL, 4, 1, 4);
  mesh.checkpoint("l1_small");
  BufferHandle other;
  std::thread([&] { other = mesh.interleaved(BufferType::L1, 64 * kKiB, 1024); }).join();
  mesh.checkpoint("second thread");
  l1.reset();
  sharded.reset();
  mesh.checkpoint("freed");
  dram.reset();
  odd.reset();
  odd_l1.reset();
  dram_sharded.reset();
  tiny.reset();
  other.reset();
  mesh.checkpoint("all freed");
}

void play_programs(Mesh& mesh) {
  std::optional<Workload> first(std::in_place, mesh, 4, 2, 4096);
  mesh.checkpoint("registered");
  first->enqueue();
  mesh.checkpoint("first load");
  first->enqueue();
  first->enqueue();
  mesh.checkpoint("cache hits");
  Workload second(mesh, 2, 1, 65536);
  second.enqueue();
  mesh.checkpoint("second program");
  auto buffer = mesh.sharded(BufferType::L1, 1, 8);
  std::optional<Workload> view(std::in_place, mesh, 1, 1024, *buffer);
  view->enqueue();
  mesh.checkpoint("view of a buffer");
  view.reset();
  first.reset();
  mesh.checkpoint("first program gone");
  Workload per_chip(mesh, Workload::PerChip{2048});
  per_chip.enqueue();
  mesh.checkpoint("a program for each chip");
}

void play_failures(Mesh& mesh) {
  auto dram = mesh.interleaved(BufferType::DRAM, kMiB, 2048);
  expect_failure("DRAM", [&] { mesh.interleaved(BufferType::DRAM, 256 * kKiB * kMiB, 2048); });
  mesh.checkpoint("dram out of memory");
  expect_failure("L1", [&] { mesh.sharded(BufferType::L1, 1, 1024); });
  mesh.checkpoint("l1 out of memory");
  auto low = mesh.sharded(BufferType::L1, 1, 600);
  expect_failure("clash", [&] { Workload(mesh, 1, 8, 65536).enqueue(); });
  mesh.checkpoint("circular buffers clash");
  low.reset();
  Workload fits(mesh, 1, 8, 65536);
  fits.enqueue();
  mesh.checkpoint("the same fits afterwards");
}

/// The programs of the chips after the first are too large for what is left.
void play_chip_failure(Mesh& mesh) {
  auto low = mesh.sharded(BufferType::L1, 1, 600);
  expect_failure("clash", [&] { Workload(mesh, Workload::PerChip{98304}).enqueue(); });
  mesh.checkpoint("a clash on one chip");
}

void play_threads(Mesh& mesh) {
  constexpr unsigned kThreads = 4;
  std::vector<std::vector<BufferHandle>> kept(kThreads);
  for (unsigned round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { churn(mesh, 100 * round + i, kept[i]); });
    }
    for (auto& thread : threads) thread.join();
    mesh.checkpoint("quiet point " + std::to_string(round));
  }
  kept.clear();
  mesh.checkpoint("all freed");
}

void play_reopen(Mesh& mesh) {
  auto lost = mesh.interleaved(BufferType::DRAM, kMiB, 2048);
  Workload program(mesh, 2, 1, 4096);
  program.enqueue();
  mesh.checkpoint("before close");
  mesh.close();
  mesh.checkpoint("closed");
  lost.reset();
  mesh.checkpoint("freed after close");
  mesh.open();
  mesh.checkpoint("reopened");
  auto again = mesh.interleaved(BufferType::DRAM, 3 * kMiB, 2048);
  mesh.checkpoint("allocated again");
}

void play_forks(Mesh& mesh) {
  constexpr int kForks = 300;
  bool stop = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) {
    threads.emplace_back([&mesh, &stop] {
      while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        mesh.interleaved(BufferType::DRAM, 64 * kKiB, 2048);
      }
    });
  }
  int failed = 0;
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    int status = 0;
    ::waitpid(child, &status, 0);
    failed += status != 0;
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (auto& thread : threads) thread.join();
  if (failed) throw std::runtime_error(std::to_string(failed) + " children failed");
  mesh.checkpoint("after 300 forks");
}

void play_hold(Mesh& mesh) {
  auto dram = mesh.interleaved(BufferType::DRAM, 2 * kMiB, 2048);
  auto l1 = mesh.interleaved(BufferType::L1, 512 * kKiB, 2048);
  mesh.checkpoint("holding");
  for (;;) ::pause();
}

void play_leave_at_once(Mesh& mesh) {
  auto dram = mesh.interleaved(BufferType::DRAM, 2 * kMiB, 2048);
  mesh.checkpoint("leaving");
  ::_exit(7);
}

void play_leave_open(Mesh& mesh) {
  static BufferHandle dram;
  dram = mesh.interleaved(BufferType::DRAM, 2 * kMiB, 2048);
  mesh.checkpoint("leaving");
  std::exit(5);
}

}  // namespace ttmem::runtime

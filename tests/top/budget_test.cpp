// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "top/source.hpp"

namespace ttmem::top {
namespace {

using namespace std::chrono_literals;

// Looks that take as long as their processor time, one after the other.
class Looks {
 public:
  double rest_ms_after(double cpu_ms, Budget::Seconds interval) {
    const Budget::Clock::time_point begin = now_;
    const auto cpu = std::chrono::duration<double, std::milli>(cpu_ms);
    go_on(cpu);
    const Budget::Seconds rest = budget_.rest(begin, now_, cpu, interval);
    go_on(rest);
    return rest.count() * 1000;
  }

 private:
  void go_on(Budget::Seconds time) {
    now_ += std::chrono::duration_cast<Budget::Clock::duration>(time);
  }
  Budget::Clock::time_point now_{1h};
  Budget budget_{now_};
};

TEST(Budget, CheapLooksComeAsOftenAsAskedFor) {
  Looks looks;
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(looks.rest_ms_after(3, 100ms), 97, 0.01);
}

TEST(Budget, DearLooksKeepToTheShare) {
  Looks looks;
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(looks.rest_ms_after(19, 100ms), 19 / 0.035 - 19, 0.01);
}

TEST(Budget, OneDearLookIsPaidByCheapOnes) {
  Looks looks;
  for (int i = 0; i < 5; ++i) looks.rest_ms_after(2, 100ms);
  EXPECT_NEAR(looks.rest_ms_after(6, 100ms), 94, 0.01);
}

TEST(Budget, WhateverALookCostsTheNextOneIsDueWithinASecond) {
  Looks looks;
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(looks.rest_ms_after(500, 100ms), 1000, 0.01);
}

}  // namespace
}  // namespace ttmem::top

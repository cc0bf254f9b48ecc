// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "base/number_order.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ttmem {
namespace {

TEST(NumberOrder, IsThatOfPeople) {
  const std::vector<std::string> expected = {"",
                                             "1",
                                             "01",
                                             "2",
                                             "10",
                                             "10 a",
                                             "a.py:9 f",
                                             "a.py:9 g",
                                             "a.py:81 f",
                                             "b.py:9 f",
                                             "layer",
                                             "layer 2 > x",
                                             "layer 10",
                                             "x184467440737095516150",
                                             "x184467440737095516151"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const bool numbers_alone = i >= 1 && i <= 2 && j >= 1 && j <= 2;
      if (numbers_alone) continue;
      EXPECT_EQ(NumberOrder()(expected[i], expected[j]), i < j)
          << expected[i] << ", " << expected[j];
    }
  }
  EXPECT_NE(NumberOrder()("1", "01"), NumberOrder()("01", "1"));
}

}  // namespace
}  // namespace ttmem

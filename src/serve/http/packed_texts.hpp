// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Texts as gzip, each packed once for all who take it while it is still in use.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "serve/http/gzip.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve::http {

class PackedTexts {
 public:
  SharedText of(const SharedText& text) {
    if (text->size() < kWorthKeeping) return std::make_shared<const std::string>(gzip_piece(*text));
    for (const Known& known : known_) {
      if (known.text.lock() == text) return known.packed;
    }
    known_.push_back({text, std::make_shared<const std::string>(gzip_piece(*text))});
    if (known_.size() > kMost) known_.pop_front();
    return known_.back().packed;
  }

 private:
  static constexpr std::size_t kWorthKeeping = 16 * 1024;
  static constexpr std::size_t kMost = 4;  // full and brief snapshot, levels of cores

  struct Known {
    std::weak_ptr<const std::string> text;
    SharedText packed;
  };
  std::deque<Known> known_;
};

}  // namespace ttmem::serve::http

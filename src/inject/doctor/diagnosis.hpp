// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem doctor`: which TT-Metal is there, and which of its functions can be observed.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace ttmem::inject {

enum class HookState {
  kBound,    ///< will be seen
  kMissing,  ///< this release has no such function, or none that it must ask
  kDirect,   ///< the library was linked so that it calls its own functions directly
};

struct HookFinding {
  std::string name;    ///< as in hooks.def
  std::string symbol;  ///< mangled
  std::string lost;    ///< the figure that its absence costs
  HookState state = HookState::kMissing;
  bool replaced =
      false;  ///< absent and not needed: another function does the same, or nothing does
};

struct Diagnosis {
  std::string library;
  std::string version;  ///< "" = not known
  std::vector<HookFinding> hooks;

  std::size_t bound() const;
  /// Figures that are not available, each once.
  std::vector<std::string> lost() const;
};

Result<Diagnosis> diagnose(const std::string& library);

}  // namespace ttmem::inject

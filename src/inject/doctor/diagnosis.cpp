// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/doctor/diagnosis.hpp"

#include <algorithm>
#include <iterator>

#include "inject/doctor/elf_symbols.hpp"
#include "inject/library_version.hpp"

namespace ttmem::inject {

namespace {

struct WantedHook {
  const char* name;
  const char* symbol;
  const char* lost;
  bool either;
};

constexpr WantedHook kWanted[] = {
#define TTMEM_HOOK(id, manner, symbol, lost) {#id, #symbol, lost, false},
#define TTMEM_EITHER(id, manner, symbol, lost) {#id, #symbol, lost, true},
#include "inject/hooks.def"
#undef TTMEM_HOOK
};

/// A library that reaches any of these through a table reaches all of them so; what it does not
/// call itself is called from outside, where there is always a table.
bool uses_tables(const std::unordered_map<std::string, DynamicSymbol>& symbols) {
  return std::any_of(std::begin(kWanted), std::end(kWanted), [&](const WantedHook& wanted) {
    const auto found = symbols.find(wanted.symbol);
    return found != symbols.end() && found->second.defined && found->second.interposable;
  });
}

/// Releases before 0.76 have no scratchpads: then nothing is lost.
bool knows_scratchpads(const std::unordered_map<std::string, DynamicSymbol>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [](const auto& symbol) {
    return symbol.first.find("process_scratchpad_binding_handles") != std::string::npos;
  });
}

bool has_replacement(const std::vector<HookFinding>& hooks, const WantedHook& wanted) {
  return wanted.either && std::any_of(hooks.begin(), hooks.end(), [&](const HookFinding& other) {
           return other.lost == wanted.lost && other.state == HookState::kBound;
         });
}

}  // namespace

std::size_t Diagnosis::bound() const {
  return static_cast<std::size_t>(std::count_if(hooks.begin(), hooks.end(), [](const auto& hook) {
    return hook.state == HookState::kBound;
  }));
}

std::vector<std::string> Diagnosis::lost() const {
  std::vector<std::string> figures;
  for (const auto& hook : hooks) {
    if (hook.state == HookState::kBound || hook.replaced) continue;
    if (std::find(figures.begin(), figures.end(), hook.lost) == figures.end()) {
      figures.push_back(hook.lost);
    }
  }
  return figures;
}

segment::Result<Diagnosis> diagnose(const std::string& library) {
  const auto symbols = read_symbols(library);
  if (!symbols) return symbols.error();
  Diagnosis diagnosis;
  diagnosis.library = library;
  diagnosis.version = version_of_library(library);
  const HookState present = uses_tables(*symbols) ? HookState::kBound : HookState::kDirect;
  for (const auto& wanted : kWanted) {
    const auto found = symbols->find(wanted.symbol);
    const bool defined = found != symbols->end() && found->second.defined;
    const HookState state = defined ? present : HookState::kMissing;
    diagnosis.hooks.push_back({wanted.name, wanted.symbol, wanted.lost, state, false});
  }
  for (std::size_t i = 0; i < diagnosis.hooks.size(); ++i) {
    HookFinding& hook = diagnosis.hooks[i];
    if (hook.state == HookState::kBound) continue;
    hook.replaced = has_replacement(diagnosis.hooks, kWanted[i]) ||
                    (hook.name == "allocate_scratchpads" && !knows_scratchpads(*symbols));
  }
  return diagnosis;
}

}  // namespace ttmem::inject

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/doctor/diagnosis.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>

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

struct Asked {
  const char* name;
  const char* symbol;
};

constexpr Asked kAsked[] = {
#define METAL_FUNCTION(name, result, arguments, symbol) {#name, symbol},
#include "inject/metal_functions.def"
#undef METAL_FUNCTION
};

struct Need {
  std::string_view hook;
  std::string_view asked;
};

constexpr Need kNeeds[] = {
#define TTMEM_NEEDS(id, function) {#id, #function},
#include "inject/hook_needs.def"
#undef TTMEM_NEEDS
};

using Symbols = std::unordered_map<std::string, DynamicSymbol>;

bool is_defined(const Symbols& symbols, const char* symbol) {
  const auto found = symbols.find(symbol);
  return found != symbols.end() && found->second.defined;
}

/// Whether the library answers what the hook must ask.
bool is_answered(const Symbols& symbols, std::string_view hook) {
  return std::none_of(std::begin(kNeeds), std::end(kNeeds), [&](const Need& need) {
    if (need.hook != hook) return false;
    const auto* asked = std::find_if(std::begin(kAsked), std::end(kAsked),
                                     [&](const Asked& one) { return need.asked == one.name; });
    return !is_defined(symbols, asked->symbol);
  });
}

/// A library that reaches any of these through a table reaches all of them so; what it does not
/// call itself is called from outside, where there is always a table.
bool uses_tables(const Symbols& symbols) {
  return std::any_of(std::begin(kWanted), std::end(kWanted), [&](const WantedHook& wanted) {
    const auto found = symbols.find(wanted.symbol);
    return found != symbols.end() && found->second.defined && found->second.interposable;
  });
}

/// Releases before 0.76 have no scratchpads: then nothing is lost.
bool knows_scratchpads(const Symbols& symbols) {
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

Result<Diagnosis> diagnose(const std::string& library) {
  const auto symbols = read_symbols(library);
  if (!symbols) return symbols.error();
  Diagnosis diagnosis;
  diagnosis.library = library;
  diagnosis.version = version_of_library(library);
  const HookState present = uses_tables(*symbols) ? HookState::kBound : HookState::kDirect;
  for (const auto& wanted : kWanted) {
    const bool usable = is_defined(*symbols, wanted.symbol) && is_answered(*symbols, wanted.name);
    const HookState state = usable ? present : HookState::kMissing;
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

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Texts of strangers on their way into a file: each becomes one line of valid UTF-8 (messages keep
// their lines), and with `redact`, what ledger/redaction.hpp hides is a number. One editor for one
// file, so that the same text is the same number everywhere in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ledger/event.hpp"
#include "ledger/origin_totals.hpp"
#include "ledger/redaction.hpp"
#include "ledger/snapshot.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::view {

class TextEditor {
 public:
  explicit TextEditor(bool redact) : redact_(redact) {}

  void edit(ledger::Snapshot& snapshot);
  void edit(ledger::HoldingView& holding);
  void edit(ledger::EventView& event);
  void edit(ledger::ProgramView& program);
  void edit(ledger::OriginTotals& totals);
  void edit(ledger::SpacePicture& picture);
  void edit(ledger::Owner& owner);
  void edit(ledger::FailureView& failure);
  // "FILE:LINE FUNCTION", or another step of a stack.
  std::string step(const std::string& text);
  std::string sentence(const std::string& text);
  // Words of the runtime: each line of them becomes one.
  std::string message(std::string_view text);

 private:
  void edit(ledger::ProcessName& name);
  void edit(ledger::Stack& stack);
  void plain(std::string& text);
  template <typename Thing>
  void edit_origin(Thing& thing);

  bool redact_;
  ledger::Redaction redaction_;
  // What was edited before, with what it was, so that its address stays its own.
  std::map<const void*, std::pair<ledger::Owner, ledger::Owner>> owners_;
  std::map<const void*, std::pair<ledger::Stack, ledger::Stack>> stacks_;
};

}  // namespace ttmem::view

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/text_editor.hpp"

#include <algorithm>
#include <array>

#include "view/printable.hpp"

namespace ttmem::view {

namespace {

std::array<std::string*, 2> texts_of(ledger::Job& job) { return {&job.key, &job.name}; }
std::array<std::string*, 4> texts_of(ledger::Pod& pod) {
  return {&pod.uid, &pod.name, &pod.name_space, &pod.container};
}

}  // namespace

void TextEditor::plain(std::string& text) { text = printable(text); }

std::string TextEditor::step(const std::string& text) {
  return printable(redact_ ? redaction_.line(text) : text);
}

std::string TextEditor::sentence(const std::string& text) {
  return printable(redact_ ? redaction_.sentence(text) : text);
}

std::string TextEditor::message(std::string_view text) {
  std::string lines;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += sentence(std::string(text.substr(0, end)));
    if (end == text.size()) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

void TextEditor::edit(ledger::ProcessName& name) {
  if (redact_) {
    name.name = redaction_.command(name.name);
    name.segment = redaction_.segment(name.segment);
  }
  plain(name.name);
  plain(name.segment);
}

void TextEditor::edit(ledger::Owner& owner) {
  if (!owner) return;
  auto& [before, after] = owners_[owner.get()];
  if (!before) {
    ledger::ProcessName name = *owner;
    edit(name);
    before = owner;
    after = std::make_shared<const ledger::ProcessName>(std::move(name));
  }
  owner = after;
}

void TextEditor::edit(ledger::Stack& stack) {
  if (!stack) return;
  auto& [before, after] = stacks_[stack.get()];
  if (!before) {
    std::vector<std::string> steps = *stack;
    for (std::string& each : steps) each = step(each);
    before = stack;
    after = std::make_shared<const std::vector<std::string>>(std::move(steps));
  }
  stack = after;
}

template <typename Thing>
void TextEditor::edit_origin(Thing& thing) {
  edit(thing.process);
  edit(thing.stack);
  thing.name = sentence(thing.name);
  thing.line = step(thing.line);
  plain(thing.operation);
  plain(thing.region);
}

void TextEditor::edit(ledger::HoldingView& holding) {
  edit_origin(holding);
  holding.source = sentence(holding.source);
}

void TextEditor::edit(ledger::ProgramView& program) { edit_origin(program); }

void TextEditor::edit(ledger::EventView& event) {
  edit_origin(event);
  plain(event.reason);
  for (ledger::EventKernel& kernel : event.kernels) {
    kernel.name = sentence(kernel.name);
    kernel.source = sentence(kernel.source);
  }
}

void TextEditor::edit(ledger::OriginTotals& totals) {
  for (ledger::OriginTotal& row : totals.rows) {
    for (std::string& each : row.path) each = step(each);
    for (ledger::Owner& process : row.processes) edit(process);
  }
  for (ledger::OriginPeak& peak : totals.peaks) edit(peak.process);
}

void TextEditor::edit(ledger::SpacePicture& picture) {
  for (ledger::HeldOrigin& origin : picture.origins) {
    plain(origin.operation);
    plain(origin.region);
    origin.line = step(origin.line);
  }
  for (ledger::HeldProgram& program : picture.programs) {
    program.name = sentence(program.name);
    program.line = step(program.line);
  }
}

void TextEditor::edit(ledger::FailureView& failure) {
  failure.message = message(failure.message);
  plain(failure.operation);
  plain(failure.region);
  failure.line = step(failure.line);
  edit(failure.stack);
}

void TextEditor::edit(ledger::Snapshot& snapshot) {
  if (redact_) {
    snapshot.host = redaction_.host(snapshot.host);
    snapshot.boot_id.clear();
  }
  plain(snapshot.host);
  plain(snapshot.boot_id);
  for (auto* texts : {&snapshot.unreadable, &snapshot.directories, &snapshot.left_behind}) {
    for (std::string& text : *texts) text = sentence(text);
  }
  for (ledger::ProcessView& process : snapshot.processes) {
    edit(static_cast<ledger::ProcessName&>(process));
    if (redact_) {
      process.command = redaction_.command(process.command);
      process.user = redaction_.user(process.user);
      process.container = redaction_.container(process.container);
      for (std::string* text : texts_of(process.job)) *text = redaction_.job(*text);
      for (std::string* text : texts_of(process.pod)) *text = redaction_.pod(*text);
      process.uid = 0;
    }
    for (std::string* text : texts_of(process.job)) plain(*text);
    for (std::string* text : texts_of(process.pod)) plain(*text);
    plain(process.command);
    plain(process.user);
    plain(process.container);
    plain(process.runtime_version);
    process.tracking.lines_reason = sentence(process.tracking.lines_reason);
    for (ledger::FailureView& failure : process.failures) edit(failure);
  }
}

}  // namespace ttmem::view

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>

#include "cli/command_descriptions.hpp"

namespace ttmem::cli {
namespace {

// A dot or a quote at the start of a line is a request to roff, and a hyphen would become a dash.
std::string roff(const std::string& text) {
  std::string safe;
  bool begin = true;
  for (const char letter : text) {
    if (begin && (letter == '.' || letter == '\'')) safe += "\\&";
    if (letter == '\\') {
      safe += "\\e";
    } else if (letter == '-') {
      safe += "\\-";
    } else {
      safe += letter;
    }
    begin = letter == '\n';
  }
  return safe;
}

std::string option_text(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(name));
  }
  if (!option.value.empty()) {
    names += (names.empty() ? "" : " ") + fmt::format("\\fI{}\\fR", roff(option.value));
  }
  std::string text = fmt::format(".TP\n{}\n{}", names, roff(option.description));
  if (!option.choices.empty()) {
    text += "; one of";
    for (const std::string& choice : option.choices)
      text += fmt::format(" \\fB{}\\fR", roff(choice));
  }
  if (!option.default_value.empty())
    text += fmt::format(" (default {})", roff(option.default_value));
  return text + "\n";
}

std::string page_name(const CommandDescription& all, const CommandDescription& command) {
  return &all == &command ? all.name : all.name + "-" + command.name;
}

std::string synopsis(const CommandDescription& all, const CommandDescription& command) {
  if (&all == &command)
    return fmt::format("\\fB{}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]", all.name);
  std::string text = fmt::format("\\fB{} {}\\fR [\\fIOPTIONS\\fR]", all.name, command.name);
  for (const OptionDescription& option : command.options) {
    if (option.names.empty()) text += fmt::format(" [\\fI{}\\fR]", roff(option.value));
  }
  if (command.runs_program) text += " [\\fIPROGRAM\\fR [\\fIARGUMENT\\fR ...]]";
  return text;
}

}  // namespace

std::string man_page(const CommandDescription& all, const CommandDescription& command) {
  const bool whole = &all == &command;
  const std::string name = page_name(all, command);
  std::string text =
      fmt::format(".TH {} 1 \"\" \"ttmem {}\" \"ttmem manual\"\n", name, TTMEM_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name),
                      roff(whole ? "live, exact device-memory accounting for Tenstorrent devices"
                                 : first_line(command.description)));
  text += fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", synopsis(all, command),
                      roff(command.description));
  if (whole) {
    text += ".SH COMMANDS\n";
    for (const CommandDescription& one : all.commands) {
      text += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fB{}\\-{}\\fR(1)\n", one.name,
                          roff(first_line(one.description)), all.name, one.name);
    }
  }
  if (!command.options.empty()) text += ".SH OPTIONS\n";
  for (const OptionDescription& option : command.options) text += option_text(option);
  if (!command.footer.empty()) {
    text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(command.footer));
  }
  text += ".SH SEE ALSO\n";
  if (!whole) return text + fmt::format("\\fB{}\\fR(1)\n", all.name);
  for (std::size_t i = 0; i < all.commands.size(); ++i) {
    text += fmt::format("\\fB{}\\-{}\\fR(1){}\n", all.name, all.commands[i].name,
                        i + 1 < all.commands.size() ? "," : "");
  }
  return text;
}

}  // namespace ttmem::cli

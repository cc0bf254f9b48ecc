// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/ansi.hpp"

#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "view/characters.hpp"

namespace ttmem::view {
namespace {

constexpr std::string_view kOwnLook = "\x1b[0m";

// A character of the same sense for terminals without UTF-8.
char ascii_for(char32_t code) {
  if (code < 0x80) return static_cast<char>(code);
  if (code == U'─' || code == U'—') return '-';
  if (code == U'│' || code == U'┃' || code == U'▏' || code == U'▎' || code == U'▌') return '|';
  if (code == U'■' || code == U'●') return '*';
  if (code == U'×') return 'x';
  if (code == U'Σ') return '=';
  if (code >= 0x2500 && code <= 0x257F) return '+';
  if (code == U'·' || code == U'░' || code == U'…') return '.';
  if (code == U'▒') return '+';
  if (code >= 0x2580 && code <= 0x259F) return '#';
  if (code >= 0x2800 && code <= 0x28FF) return ':';
  if (code == U'▲' || code == U'↑') return '^';
  if (code == U'▼' || code == U'↓') return 'v';
  if (code == U'▶' || code == U'›' || code == U'→') return '>';
  if (code == U'←') return '<';
  return '?';
}

void append_character(std::string& out, const Cell& cell, bool ascii) {
  if (cell.character == 0) return;
  if (ascii) {
    out.append(static_cast<std::size_t>(character_columns(cell.character)),
               ascii_for(cell.character));
    return;
  }
  append_utf8(out, cell.character);
  if (cell.mark != 0) append_utf8(out, cell.mark);
}

void append_colour(std::string& out, int first, Ink ink, const Ansi& ansi) {
  if (ink == Ink::kDefault || ansi.depth == ColourDepth::kNone) return;
  if (ansi.depth == ColourDepth::kTrue) {
    const Rgb colour = ansi.palette[ink];
    fmt::format_to(std::back_inserter(out), ";{};2;{};{};{}", first, colour.red, colour.green,
                   colour.blue);
  } else {
    fmt::format_to(std::back_inserter(out), ";{};5;{}", first, ansi.palette.of_256(ink));
  }
}

// Collects output and says a look only when it changes.
class Writer {
 public:
  explicit Writer(const Ansi& ansi) : ansi_(ansi) {}

  void cell(const Cell& cell) {
    if (cell.look != look_) {
      look_ = cell.look;
      text_ += ansi_.sequence(look_.value());
    }
    append_character(text_, cell, ansi_.ascii);
  }
  void move(int x, int y) {
    fmt::format_to(std::back_inserter(text_), "\x1b[{};{}H", y + 1, x + 1);
  }
  void raw(std::string_view bytes) { text_ += bytes; }
  void plain() {
    if (look_ && *look_ != Look{}) text_ += kOwnLook;
    look_ = Look{};
  }
  std::string take() { return std::move(text_); }

 private:
  const Ansi& ansi_;
  std::optional<Look> look_ = Look{};
  std::string text_;
};

int last_used(const Grid& grid, int y, bool looks) {
  int last = grid.columns() - 1;
  while (last >= 0 && grid.at(last, y).character == U' ' &&
         (!looks || grid.at(last, y).look.back == Ink::kDefault)) {
    --last;
  }
  return last;
}

void draw_row(Writer& writer, const Grid& before, const Grid& after, int y) {
  int at = -1;  // where the cursor is in this row; -1: elsewhere
  for (int x = 0; x < after.columns(); ++x) {
    const Cell& cell = after.at(x, y);
    const bool wide = x + 1 < after.columns() && after.at(x + 1, y).character == 0;
    const bool same =
        cell == before.at(x, y) && (!wide || after.at(x + 1, y) == before.at(x + 1, y));
    if (same || cell.character == 0) continue;
    if (at != x) writer.move(x, y);
    writer.cell(cell);
    at = wide ? x + 2 : x + 1;
  }
}

}  // namespace

std::string Ansi::sequence(const Look& look) const {
  std::string text = "\x1b[0";
  if (look.strong) text += ";1";
  if (look.underlined) text += ";4";
  if (look.reversed || (depth == ColourDepth::kNone && look.back == Ink::kSelection)) text += ";7";
  append_colour(text, 38, look.ink, *this);
  append_colour(text, 48, look.back, *this);
  return text + "m";
}

std::string Ansi::painted(std::string_view text, const Look& look) const {
  return sequence(look).append(text).append(kOwnLook);
}

std::string plain_text(const Grid& grid) {
  std::string text;
  for (int y = 0; y < grid.rows(); ++y) {
    const int last = last_used(grid, y, false);
    for (int x = 0; x <= last; ++x) append_character(text, grid.at(x, y), false);
    text += '\n';
  }
  return text;
}

std::string styled_text(const Grid& grid, const Ansi& ansi) {
  Writer writer(ansi);
  for (int y = 0; y < grid.rows(); ++y) {
    const int last = last_used(grid, y, true);
    for (int x = 0; x <= last; ++x) writer.cell(grid.at(x, y));
    writer.plain();
    writer.raw("\n");
  }
  return writer.take();
}

std::string difference(const Grid& before, const Grid& after, const Ansi& ansi) {
  const bool resized = before.columns() != after.columns() || before.rows() != after.rows();
  const Grid blank = resized ? Grid(after.columns(), after.rows()) : Grid();
  Writer writer(ansi);
  if (resized) writer.raw(std::string(kOwnLook) + "\x1b[2J");
  for (int y = 0; y < after.rows(); ++y) draw_row(writer, resized ? blank : before, after, y);
  writer.plain();
  return writer.take();
}

}  // namespace ttmem::view

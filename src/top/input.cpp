// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/input.hpp"

#include <charconv>
#include <optional>

#include "view/characters.hpp"

namespace ttmem::top {
namespace {

constexpr char kEsc = '\x1b';
constexpr std::size_t kLongestSequence = 32;

bool is_final(char byte) { return byte >= 0x40 && byte <= 0x7E; }

std::vector<int> numbers(std::string_view text) {
  std::vector<int> result;
  while (true) {
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    result.push_back(value);
    const auto used = static_cast<std::size_t>(parsed.ptr - text.data());
    if (used >= text.size()) return result;
    text.remove_prefix(used + 1);
  }
}

std::optional<Key> key_of_letter(char letter) {
  switch (letter) {
    case 'A':
      return Key::kUp;
    case 'B':
      return Key::kDown;
    case 'C':
      return Key::kRight;
    case 'D':
      return Key::kLeft;
    case 'F':
      return Key::kEnd;
    case 'H':
      return Key::kHome;
    case 'M':
      return Key::kEnter;
    case 'Z':
      return Key::kBackTab;
    default:
      return std::nullopt;
  }
}

std::optional<Key> key_of_number(int number) {
  switch (number) {
    case 1:
    case 7:
      return Key::kHome;
    case 4:
    case 8:
      return Key::kEnd;
    case 5:
      return Key::kPageUp;
    case 6:
      return Key::kPageDown;
    default:
      return std::nullopt;
  }
}

// "<button;column;row" and 'M' for pressed.
std::optional<Input> mouse(std::string_view body, char final) {
  const std::vector<int> values = numbers(body.substr(1));
  if (values.size() != 3 || final != 'M') return std::nullopt;
  Input input{Key::kClick, 0, values[1] - 1, values[2] - 1};
  switch (values[0] & ~0x1C) {  // without Shift, Alt and Ctrl
    case 0:
      return input;
    case 64:
      input.key = Key::kWheelUp;
      return input;
    case 65:
      input.key = Key::kWheelDown;
      return input;
    default:
      return std::nullopt;
  }
}

std::optional<Input> sequence(std::string_view body, char final) {
  if (!body.empty() && body[0] == '<') return mouse(body, final);
  const std::optional<Key> key =
      final == '~' ? key_of_number(numbers(body).front()) : key_of_letter(final);
  if (!key) return std::nullopt;
  return Input{*key};
}

Input single(char32_t code) {
  switch (code) {
    case '\t':
      return {Key::kTab};
    case '\r':
    case '\n':
      return {Key::kEnter};
    case 0x7F:
    case '\b':
      return {Key::kBackspace};
    default:
      return {Key::kCharacter, code};
  }
}

}  // namespace

bool InputDecoder::take_sequence(std::vector<Input>& inputs) {
  if (rest_.size() < 2) return false;
  if (rest_[1] != '[' && rest_[1] != 'O') {
    inputs.push_back({Key::kEscape});
    rest_.erase(0, 1);
    return true;
  }
  std::size_t end = 2;
  while (end < rest_.size() && !is_final(rest_[end])) ++end;
  if (end == rest_.size()) {
    if (end > kLongestSequence) rest_.clear();
    return false;
  }
  if (const auto input = sequence(std::string_view(rest_).substr(2, end - 2), rest_[end])) {
    inputs.push_back(*input);
  }
  rest_.erase(0, end + 1);
  return true;
}

bool InputDecoder::take(std::vector<Input>& inputs) {
  if (rest_[0] == kEsc) return take_sequence(inputs);
  const view::Character character = view::next_character(rest_);
  if (!character.valid && rest_.size() < 4 && static_cast<unsigned char>(rest_[0]) >= 0xC2) {
    return false;
  }
  if (character.valid) inputs.push_back(single(character.code));
  rest_.erase(0, character.bytes);
  return true;
}

std::vector<Input> InputDecoder::feed(std::string_view bytes) {
  rest_ += bytes;
  std::vector<Input> inputs;
  while (!rest_.empty() && take(inputs)) {
  }
  return inputs;
}

std::vector<Input> InputDecoder::flush() {
  std::vector<Input> inputs;
  if (rest_ == std::string_view(&kEsc, 1)) inputs.push_back({Key::kEscape});
  rest_.clear();
  return inputs;
}

}  // namespace ttmem::top

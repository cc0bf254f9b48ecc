// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/message.hpp"

#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace ttmem::explain {
namespace {

using ledger::Figure;
using ledger::Space;

// Walks through a message from phrase to phrase. A phrase that does not come leaves the figures
// behind it empty.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  bool skip_past(std::string_view phrase) {
    const std::size_t at = rest_.find(phrase);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + phrase.size());
    return true;
  }
  Figure number() {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  Figure number_after(std::string_view phrase) {
    return skip_past(phrase) ? number() : std::nullopt;
  }
  std::string_view up_to(std::string_view phrase) const {
    return rest_.substr(0, rest_.find(phrase));
  }
  bool starts_with(std::string_view word) const { return rest_.starts_with(word); }

 private:
  std::string_view rest_;
};

// "[0-0 - 7-7]", older "[(x=0,y=0) - (x=7,y=7)]": "0,0-7,7". Several ranges: the first.
std::string core_range(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at < text.size() && numbers.size() < 4;) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error == std::errc()) {
      numbers.push_back(value);
      at = static_cast<std::size_t>(end - text.data());
    } else {
      ++at;
    }
  }
  if (numbers.size() < 4) return "";
  return fmt::format("{},{}-{},{}", numbers[0], numbers[1], numbers[2], numbers[3]);
}

std::optional<Space> space_of(const Words& words) {
  struct Name {
    std::string_view word;
    Space space;
  };
  constexpr std::array<Name, 4> kNames = {{{"L1_SMALL ", Space::kL1Small},
                                           {"L1 ", Space::kL1},
                                           {"DRAM ", Space::kDram},
                                           {"TRACE ", Space::kTrace}}};
  for (const Name& name : kNames) {
    if (words.starts_with(name.word)) return name.space;
  }
  return std::nullopt;
}

void read_out_of_memory(Words words, Message& message) {
  message.requested = words.number();
  if (!words.skip_past(" B ")) return;
  message.space = space_of(words);
  message.banks = words.number_after(" across ");
  // An allocator with lists per core says it in brackets.
  message.per_bank = words.starts_with(" banks (") ? words.number_after(" banks (")
                                                   : words.number_after("needs to store ");
  if (!words.skip_past("bank size is ")) return;
  if (words.starts_with("only ")) words.skip_past("only ");
  message.bank = words.number();
  message.held = words.number_after("(allocated: ");
  message.free = words.number_after("free: ");
  message.largest = words.number_after("largest free block: ");
}

void read_clash(Words words, Message& message) {
  if (words.skip_past("on core range ")) message.cores = core_range(words.up_to("L1 buffer"));
  message.lowest_buffer = words.number_after("L1 buffer allocated at ");
  message.region_end = words.number_after("buffer region ends at ");
}

void read_too_large(Words words, Message& message) {
  message.cores = core_range(words.up_to("grow to "));
  message.needed = words.number_after("grow to ");
  message.limit = words.number_after("beyond max L1 size of ");
}

void read_ring(Words words, Message& message) {
  message.needed = words.number();
  message.limit = words.number_after("kernel config buffer (");
}

void read_trace(Words words, Message& message) {
  message.requested = message.needed = words.number();
  message.limit = words.number_after("but only ");
}

void read_below(Words words, Message& message) {
  message.limit = words.number();
  message.lowest_buffer = words.number_after("Allocation at ");
}

struct Known {
  std::string_view phrase;
  MessageKind kind;
  void (*read)(Words words, Message& message);
};

constexpr std::array<Known, 9> kKnown = {{
    {"Out of Memory: Not enough space to allocate ", MessageKind::kOutOfMemory, read_out_of_memory},
    {"Out of Memory: Not enough space after considering dependencies to allocate ",
     MessageKind::kOutOfMemory, read_out_of_memory},
    {"Out of Memory: Cannot allocate at an address below ", MessageKind::kBelowLimit, read_below},
    {"Statically allocated circular buffers in program ", MessageKind::kClash, read_clash},
    {"Statically allocated dataflow buffers in program ", MessageKind::kClash, read_clash},
    {"Statically allocated circular buffers on core range ", MessageKind::kProgramTooLarge,
     read_too_large},
    {"Statically allocated dataflow buffers on core range ", MessageKind::kProgramTooLarge,
     read_too_large},
    {"Program size (", MessageKind::kRing, read_ring},
    {"Creating trace buffers of size ", MessageKind::kTraceRegion, read_trace},
}};

}  // namespace

Message read_message(std::string_view text) {
  Message message;
  for (const Known& known : kKnown) {
    Words words(text);
    if (!words.skip_past(known.phrase)) continue;
    message.kind = known.kind;
    known.read(words, message);
    return message;
  }
  return message;
}

}  // namespace ttmem::explain

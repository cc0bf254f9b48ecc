// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/native/unwind_table.hpp"

#include <cstring>

namespace ttmem::inject::native {

namespace {

using Address = std::uintptr_t;

constexpr unsigned kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;  // as DWARF has them
constexpr std::uint8_t kFourBytesSigned = 0x0B, kRelativeToPlace = 0x10, kRelativeToHeader = 0x30;
constexpr std::uint8_t kFourBytes = 0x03;

/// Reads on from a place; what lies outside of the memory makes it bad for good.
class Cursor {
 public:
  Cursor(std::span<const std::uint8_t> memory, Address at)
      : low_(reinterpret_cast<Address>(memory.data())), high_(low_ + memory.size()), at_(at) {
    good_ = at >= low_ && at <= high_;
  }
  bool good() const { return good_; }
  Address at() const { return at_; }
  bool before(Address end) const { return good_ && at_ < end; }
  void skip(std::uint64_t bytes) {
    good_ = good_ && bytes <= high_ - at_;
    if (good_) at_ += bytes;
  }
  template <class T>
  T take() {
    T value = {};
    const Address from = at_;
    skip(sizeof value);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): within the memory
    if (good_) std::memcpy(&value, reinterpret_cast<const void*>(from), sizeof value);
    return value;
  }
  std::uint64_t unsigned_number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take<std::uint8_t>();
      number |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return number;
    }
    good_ = false;
    return 0;
  }
  std::int64_t signed_number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 63;) {
      const auto byte = take<std::uint8_t>();
      number |= std::uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0) number |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(number);
    }
    good_ = false;
    return 0;
  }
  /// A pointer of an encoding that compilers use here; others make it bad.
  Address pointer(std::uint8_t encoding) {
    const Address place = at_;
    if (encoding == (kRelativeToPlace | kFourBytesSigned)) {
      return place + static_cast<Address>(std::int64_t{take<std::int32_t>()});
    }
    if (encoding == 0) return take<Address>();
    if (encoding == kRelativeToPlace) return place + take<Address>();
    good_ = false;
    return 0;
  }

 private:
  Address low_, high_, at_;
  bool good_;
};

/// What many functions have in common: the start of their rules.
struct Common {
  std::uint64_t code_step = 1;
  std::int64_t data_step = 1;
  std::uint8_t pointers = 0;  ///< encoding
  bool sized = false;         ///< functions have data of their own, with their size before them
  Address begin = 0, end = 0;
};

bool read_augmentation(Cursor& in, const char* letters, Common& common) {
  if (letters[0] == 0) return true;
  if (letters[0] != 'z') return false;
  common.sized = true;
  const std::uint64_t bytes = in.unsigned_number();
  const Address end = in.at() + bytes;
  for (const char* letter = letters + 1; *letter != 0; ++letter) {
    if (*letter == 'R') {
      common.pointers = in.take<std::uint8_t>();
    } else if (*letter == 'L') {
      in.take<std::uint8_t>();
    } else if (*letter == 'P') {
      const auto encoding = in.take<std::uint8_t>();
      in.skip((encoding & 0x0F) == kFourBytesSigned || (encoding & 0x0F) == kFourBytes ? 4 : 8);
    } else {
      return false;  // of signals, and what is newer
    }
  }
  if (!in.good() || in.at() > end) return false;
  in.skip(end - in.at());
  return in.good();
}

bool read_common(const UnwindTable& table, Address at, Common& common) {
  Cursor in(table.memory, at);
  const auto bytes = in.take<std::uint32_t>();
  const Address start = in.at();
  if (bytes == 0xFFFFFFFF || in.take<std::uint32_t>() != 0) return false;
  const auto version = in.take<std::uint8_t>();
  char letters[8] = {};
  for (std::size_t i = 0; i < sizeof letters; ++i) {
    letters[i] = static_cast<char>(in.take<std::uint8_t>());
    if (letters[i] == 0) break;
    if (i == sizeof letters - 1) return false;
  }
  common.code_step = in.unsigned_number();
  common.data_step = in.signed_number();
  const std::uint64_t return_address =
      version == 1 ? in.take<std::uint8_t>() : in.unsigned_number();
  if (!in.good() || (version != 1 && version != 3) || return_address != kReturnAddress) {
    return false;
  }
  if (!read_augmentation(in, letters, common)) return false;
  common.begin = in.at();
  common.end = start + bytes;
  return common.end >= common.begin;
}

/// Carries out the instructions of a table.
class Machine {
 public:
  Machine(const UnwindTable& table, const Common& common) : table_(table), common_(common) {}

  /// False: something that is not understood. Stops at the first instruction beyond `until`.
  bool run(Address begin, Address end, Address location, Address until) {
    Cursor in(table_.memory, begin);
    while (in.before(end)) {
      const auto byte = in.take<std::uint8_t>();
      const unsigned operand = byte & 0x3Fu;
      switch (byte >> 6) {
        case 1:
          location += operand * common_.code_step;
          break;
        case 2:
          set(operand, scaled(in.unsigned_number()));
          break;
        case 3:
          restore(operand);
          break;
        default:
          if (!extended(operand, in, location)) return false;
      }
      if (location > until) break;
    }
    return in.good();
  }
  void begin_function() { initial_ = now_; }

  Rule rule() const {
    Rule found;
    const bool fits = now_.offset == static_cast<std::int32_t>(now_.offset) &&
                      now_.saved == static_cast<std::int32_t>(now_.saved);
    const bool usual = now_.base == kStackPointer || now_.base == kFramePointer;
    found.outermost = now_.outermost;
    found.known = now_.outermost || (fits && usual && now_.understood && now_.return_at == -8);
    found.by_frame_pointer = now_.base == kFramePointer;
    found.offset = static_cast<std::int32_t>(now_.offset);
    found.frame_pointer_at = static_cast<std::int32_t>(now_.saved);
    return found;
  }

 private:
  struct State {
    std::uint64_t base = 0;
    std::int64_t offset = 0;
    std::int64_t saved = 0;      // the frame pointer; 0 = it is as it was
    std::int64_t return_at = 0;  // the return address
    bool understood = true;
    bool outermost = false;
  };

  /// Whatever the table says, this does not overflow.
  std::int64_t scaled(std::uint64_t offset) const {
    return static_cast<std::int64_t>(offset * static_cast<std::uint64_t>(common_.data_step));
  }
  void set(std::uint64_t number, std::int64_t offset) {
    if (number == kFramePointer) now_.saved = offset;
    if (number == kReturnAddress) now_.return_at = offset;
  }
  void restore(std::uint64_t number) {
    if (number == kFramePointer) now_.saved = initial_.saved;
    if (number == kReturnAddress) now_.return_at = initial_.return_at;
  }
  /// A register whose value is worked out in a way that is not followed.
  void lose(std::uint64_t number) {
    if (number == kFramePointer || number == kReturnAddress) now_.understood = false;
  }
  bool extended(unsigned operation, Cursor& in, Address& location);
  bool define_frame(unsigned operation, Cursor& in);

  const UnwindTable& table_;
  const Common& common_;
  static constexpr unsigned kMostKept = 8;
  State now_, initial_, kept_[kMostKept];
  unsigned keeps_ = 0;
};

bool Machine::define_frame(unsigned operation, Cursor& in) {
  switch (operation) {
    case 0x0C:  // register and offset
      now_.base = in.unsigned_number();
      now_.offset = static_cast<std::int64_t>(in.unsigned_number());
      return true;
    case 0x0D:
      now_.base = in.unsigned_number();
      return true;
    case 0x0E:
      now_.offset = static_cast<std::int64_t>(in.unsigned_number());
      return true;
    case 0x0F:  // an expression
      now_.base = 0;
      in.skip(in.unsigned_number());
      return true;
    default:
      return false;
  }
}

bool Machine::extended(unsigned operation, Cursor& in, Address& location) {
  switch (operation) {
    case 0x00:  // nothing
      return true;
    case 0x01:
      location = in.pointer(common_.pointers);
      return true;
    case 0x02:
      location += in.take<std::uint8_t>() * common_.code_step;
      return true;
    case 0x03:
      location += in.take<std::uint16_t>() * common_.code_step;
      return true;
    case 0x04:
      location += in.take<std::uint32_t>() * common_.code_step;
      return true;
    case 0x05: {
      const std::uint64_t number = in.unsigned_number();
      set(number, scaled(in.unsigned_number()));
      return true;
    }
    case 0x06:
      restore(in.unsigned_number());
      return true;
    case 0x07: {  // undefined: of the return address, the end of the stack
      const std::uint64_t number = in.unsigned_number();
      now_.outermost |= number == kReturnAddress;
      return true;
    }
    case 0x08:  // the same value
      restore(in.unsigned_number());
      return true;
    case 0x0A:
      if (keeps_ == kMostKept) return false;
      kept_[keeps_++] = now_;
      return true;
    case 0x0B:
      if (keeps_ == 0) return false;
      now_ = kept_[--keeps_];
      return true;
    case 0x10:  // saved, or worth, what an expression says
    case 0x16:
      lose(in.unsigned_number());
      in.skip(in.unsigned_number());
      return true;
    case 0x2E:  // bytes of arguments
      in.unsigned_number();
      return true;
    default:
      return define_frame(operation, in);
  }
}

/// The description of the function that has this instruction; 0 = none.
Address find_function(const UnwindTable& table, Address instruction) {
  Cursor in(table.memory, table.header);
  const auto version = in.take<std::uint8_t>();
  const auto frames = in.take<std::uint8_t>();
  const auto counts = in.take<std::uint8_t>();
  const auto entries = in.take<std::uint8_t>();
  const bool usual = version == 1 && frames == (kRelativeToPlace | kFourBytesSigned) &&
                     counts == kFourBytes && entries == (kRelativeToHeader | kFourBytesSigned);
  if (!in.good() || !usual) return 0;
  in.take<std::int32_t>();
  const auto count = in.take<std::uint32_t>();
  const Address first = in.at();
  std::uint64_t low = 0;
  for (std::uint64_t high = count; low < high;) {
    const std::uint64_t middle = low + (high - low) / 2;
    Cursor entry(table.memory, first + middle * 8);
    const Address start =
        table.header + static_cast<Address>(std::int64_t{entry.take<std::int32_t>()});
    if (!entry.good()) return 0;
    if (start <= instruction) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  Cursor entry(table.memory, first + (low - 1) * 8 + 4);
  const auto at = static_cast<Address>(std::int64_t{entry.take<std::int32_t>()});
  return entry.good() ? table.header + at : 0;
}

}  // namespace

Rule rule_at(const UnwindTable& table, Address instruction) {
  const Address function = find_function(table, instruction);
  if (function == 0) return {};
  Cursor in(table.memory, function);
  const auto bytes = in.take<std::uint32_t>();
  const Address start = in.at();
  const auto back = in.take<std::uint32_t>();
  Common common;
  if (!in.good() || bytes == 0xFFFFFFFF || back == 0 || !read_common(table, start - back, common)) {
    return {};
  }
  const Address begin = in.pointer(common.pointers);
  const std::uint64_t size = common.pointers == (kRelativeToPlace | kFourBytesSigned)
                                 ? in.take<std::uint32_t>()
                                 : in.take<std::uint64_t>();
  if (common.sized) in.skip(in.unsigned_number());
  if (!in.good() || instruction < begin || instruction - begin >= size) return {};
  Machine machine(table, common);
  if (!machine.run(common.begin, common.end, 0, ~Address{0})) return {};
  machine.begin_function();
  if (!machine.run(in.at(), start + bytes, begin, instruction)) return {};
  return machine.rule();
}

}  // namespace ttmem::inject::native

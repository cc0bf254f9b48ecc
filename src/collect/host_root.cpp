// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/host_root.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "base/foreign_file.hpp"

namespace ttmem::collect {
namespace {

template <typename T>
std::optional<T> parse(std::string_view text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint64_t> decimal(std::string_view text) {
  return parse<std::uint64_t>(text, 10);
}
std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse<std::uint64_t>(text, 16);
}

std::optional<std::string> HostRoot::read(const std::string& path, std::size_t most) const {
  const ForeignFile file = open_foreign(AT_FDCWD, full(path).c_str());
  if (file.error != 0) return std::nullopt;
  std::string text(most, '\0');
  std::size_t got = 0;
  ssize_t count = 1;
  while (count > 0 && got < text.size()) {
    count = ::read(file.descriptor.get(), text.data() + got, text.size() - got);
    if (count > 0) got += static_cast<std::size_t>(count);
  }
  if (count < 0 && got == 0) return std::nullopt;
  text.resize(got);
  return text;
}

std::optional<std::string> HostRoot::line(const std::string& path) const {
  auto text = read(path);
  if (!text) return std::nullopt;
  text->resize(std::min(text->find('\n'), text->size()));
  return text->empty() ? std::nullopt : text;
}

std::optional<std::int64_t> HostRoot::number(const std::string& path) const {
  const auto text = line(path);
  return text ? parse<std::int64_t>(*text, 10) : std::nullopt;
}

std::vector<std::string> HostRoot::list(const std::string& directory, std::size_t most) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(full(directory).c_str()), ::closedir);
  if (!stream) return names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() >= most) break;
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> HostRoot::link_name(const std::string& path) const {
  std::array<char, 1024> target{};
  const ssize_t length = ::readlink(full(path).c_str(), target.data(), target.size() - 1);
  if (length <= 0) return std::nullopt;
  const std::string text(target.data(), static_cast<std::size_t>(length));
  return text.substr(text.rfind('/') + 1);
}

}  // namespace ttmem::collect

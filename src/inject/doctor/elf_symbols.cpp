// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/doctor/elf_symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"

namespace ttmem::inject {

namespace {

/// A file mapped for reading; every access is checked against its length.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status = {};
    if (::fstat(file.get(), &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
      if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
    }
  }
  ~MappedFile() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  explicit operator bool() const { return data_ != nullptr; }

  /// `count` objects at `offset`; empty if they do not lie in the file.
  template <typename T>
  std::vector<T> read(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    std::vector<T> objects(count);
    if (count) std::memcpy(objects.data(), data_ + offset, count * sizeof(T));
    return objects;
  }

  std::string_view text(std::uint64_t offset) const {
    if (offset >= size_) return {};
    return {data_ + offset, ::strnlen(data_ + offset, size_ - offset)};
  }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// One header, or none if this is not a 64-bit file of that format.
std::vector<Elf64_Ehdr> header_of(const MappedFile& file) {
  auto header = file.read<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  return header;
}

std::vector<Elf64_Shdr> sections_of(const MappedFile& file) {
  const auto header = header_of(file);
  if (header.empty()) return {};
  return file.read<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
}

Error cannot_read(const std::string& path) { return {ErrorCode::kNotFound, "cannot read " + path}; }

bool is_redirected(std::uint32_t type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

}  // namespace

Result<std::unordered_map<std::string, DynamicSymbol>> read_symbols(const std::string& path) {
  const MappedFile file(path);
  if (!file) return cannot_read(path);
  std::unordered_map<std::string, DynamicSymbol> result;
  const auto sections = sections_of(file);
  std::vector<std::string> names;
  for (const auto& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const std::uint64_t strings = sections[section.sh_link].sh_offset;
    for (const auto& symbol :
         file.read<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      names.emplace_back(file.text(strings + symbol.st_name));
      if (symbol.st_shndx != SHN_UNDEF) result[names.back()].defined = true;
    }
  }
  if (names.empty()) {
    return Error{ErrorCode::kWrongKind, path + " is not a 64-bit shared library"};
  }
  for (const auto& section : sections) {
    if (section.sh_type != SHT_RELA) continue;
    for (const auto& relocation :
         file.read<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela))) {
      const auto index = ELF64_R_SYM(relocation.r_info);
      if (index < names.size() && is_redirected(ELF64_R_TYPE(relocation.r_info))) {
        result[names[index]].interposable = true;
      }
    }
  }
  return result;
}

Result<std::string> dynamic_linker_of(const std::string& path) {
  const MappedFile file(path);
  if (!file) return cannot_read(path);
  const auto header = header_of(file);
  if (header.empty()) {
    return Error{ErrorCode::kWrongKind, path + " is not a 64-bit program"};
  }
  for (const auto& part : file.read<Elf64_Phdr>(header[0].e_phoff, header[0].e_phnum)) {
    if (part.p_type == PT_INTERP) return std::string(file.text(part.p_offset));
  }
  return std::string();
}

}  // namespace ttmem::inject

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A file descriptor that is closed by its owner's end. It enters other people's processes too, so
// it needs nothing but the C library.
#pragma once

#include <unistd.h>

#include <utility>

namespace ttmem {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes what a system call returned, also the -1 of one that failed.
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  // Whoever calls this closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  // Closes what it had.
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace ttmem

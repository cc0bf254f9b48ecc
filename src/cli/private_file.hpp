// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a command writes for somebody to keep: a new file that only this user may read, or standard
// output for "-". A file that could not be written to its end is taken away again, and one that was
// there before stays until the new one is whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "cli/output.hpp"

namespace ttmem::cli {

class PrivateFile {
 public:
  // Follows no link; `replace`: also where a regular file is there. Never `source`, which is read.
  static Result<PrivateFile> create(const std::string& path, bool replace,
                                    const std::string& source);

  void write(std::string_view bytes);
  // Writes the rest, and says how it went as an ExitCode, with words on standard error.
  int finish();
  // Takes the file away; returns the code.
  int give_up(int exit_code);

  bool is_over() { return error_ != 0 || (output_ && output_->is_over()); }

 private:
  void flush();

  std::string path_, begun_, waiting_;  // `begun_`: what it is called until it is whole
  std::optional<Output> output_;
  FileDescriptor file_;
  int error_ = 0;
};

}  // namespace ttmem::cli

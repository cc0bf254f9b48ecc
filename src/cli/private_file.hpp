// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a command writes for somebody to keep: a new file that only this user may read, or standard
// output for "-". A file that could not be written to its end is taken away again.
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
  // Follows no link; with `replace`, a regular file that is there is taken away first.
  static Result<PrivateFile> create(const std::string& path, bool replace);

  void write(std::string_view bytes);
  // Writes the rest, and says how it went as an ExitCode, with words on standard error.
  int finish();
  // Takes the file away; returns the code.
  int give_up(int exit_code);

  bool is_standard_output() const { return output_.has_value(); }
  bool is_over() { return error_ != 0 || (output_ && output_->is_over()); }

 private:
  void flush();

  std::string path_, waiting_;
  std::optional<Output> output_;
  FileDescriptor file_;
  int error_ = 0;
};

}  // namespace ttmem::cli

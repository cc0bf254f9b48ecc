// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The files of the page as they lie in the binary: compressed by gzip. The table is made by
// scripts/page when ttmem is built.
#pragma once

#include <span>
#include <string_view>

namespace ttmem::serve::http {

struct PageFile {
  std::string_view path;  // "/index.html"
  std::string_view type;  // "text/html; charset=utf-8"
  std::string_view etag;  // of what is in it, with its quotation marks
  bool named_by_content;  // another content would have another path: may be kept for ever
  const char *begin, *end;
};

std::span<const PageFile> page_files();

}  // namespace ttmem::serve::http

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The page for people: files of the binary, and for every path that could be a view the page itself
// (`/d/0/c/3,4`), so that a link survives a reload.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve::http {

// A file as it lies in the binary: compressed by gzip.
struct PageFile {
  std::string_view path;  // "/index.html"
  std::string_view type;  // "text/html; charset=utf-8"
  std::string_view etag;  // of what is in it, with its quotation marks
  bool named_by_content;  // another content would have another path: may be kept for ever
  const char *begin, *end;
};

// The table is made by scripts/page when ttmem is built.
std::span<const PageFile> page_files();

// Nothing if the page has no such file and no view could have that path. There is no figure in it,
// so it needs no token: it asks its user for that.
std::optional<Response> page_answer(const Request& request);

// "/api": what programs can ask for here, with links. Nothing in it comes from a workload.
Response api_page();

}  // namespace ttmem::serve::http

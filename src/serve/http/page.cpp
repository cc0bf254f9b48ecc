// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/page.hpp"

#include <algorithm>
#include <string_view>

#include "serve/http/gzip.hpp"
#include "serve/http/page_files.hpp"

namespace ttmem::serve::http {
namespace {

constexpr std::string_view kStart = "/index.html";

const PageFile* find(std::string_view path) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

// Files have an ending and what programs ask for has not the page's business: the rest are views.
bool is_view(std::string_view path) {
  return path.find('.') == std::string_view::npos && !path.starts_with("/api/");
}

}  // namespace

std::optional<Response> page_answer(const Request& request) {
  const PageFile* file = find(request.path);
  if (file == nullptr && is_view(request.path)) file = find(kStart);
  if (file == nullptr) return std::nullopt;
  Response response;
  response.type = file->type;
  response.headers.emplace_back("ETag", file->etag);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.headers.emplace_back(
      "Cache-Control", file->named_by_content ? "public, max-age=31536000, immutable" : "no-cache");
  if (request.if_none_match == file->etag) {
    response.status = 304;
    return response;
  }
  const std::string_view packed(file->begin, file->end);
  if (request.takes_gzip) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.start = packed;
  } else {
    response.start = gunzipped(packed);
  }
  return response;
}

}  // namespace ttmem::serve::http

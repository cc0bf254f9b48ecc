// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/response.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve::http {
namespace {

std::string_view reason(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

}  // namespace

std::size_t Response::size() const {
  std::size_t bytes = start.size();
  for (const SharedText& part : rest) bytes += part->size();
  return bytes;
}

Response error(unsigned status, std::string_view message) {
  const nlohmann::ordered_json body = {{"error", {{"status", status}, {"message", message}}}};
  Response response = json(view::json::text(body, view::JsonLayout::kCompact));
  response.status = status;
  return response;
}

Response json(std::string text) {
  Response response;
  response.start = std::move(text);
  response.start += '\n';
  return response;
}

std::string head(const Response& response, bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response.status,
                                 reason(response.status), response.type);
  const bool has_length = !response.stream && response.status != 304;
  if (has_length) text += fmt::format("Content-Length: {}\r\n", response.size());
  for (const auto& [name, value] : response.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  text += keep_alive && !response.stream ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  return text + "\r\n";
}

}  // namespace ttmem::serve::http

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/gzip.hpp"

#include <array>

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>

namespace ttmem::serve::http {
namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t kHeadBytes = 10, kEndBytes = 8;
// Fast: what is sent is JSON, which gives way easily, and many times a second.
constexpr int kLevel = 1, kWindowBits = 15, kMemory = 8;

}  // namespace

std::string gzip_head() {
  // Magic, deflate, no flags, no time, no extra flags, no matter which system.
  return {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", kHeadBytes};
}

std::string gzip_piece(std::string_view text) {
  zlib::deflate_stream stream;
  stream.reset(kLevel, kWindowBits, kMemory, zlib::Strategy::normal);
  constexpr std::size_t kFlushBytes = 16;
  std::string packed(stream.upper_bound(text.size()) + kFlushBytes, '\0');
  zlib::z_params params;
  params.next_in = text.data();
  params.avail_in = text.size();
  params.next_out = packed.data();
  params.avail_out = packed.size();
  boost::system::error_code error;
  stream.write(params, zlib::Flush::full, error);
  packed.resize(packed.size() - params.avail_out);
  return packed;
}

std::string gunzipped(std::string_view packed) {
  if (packed.size() < kHeadBytes + kEndBytes) return "";
  packed.remove_prefix(kHeadBytes);
  packed.remove_suffix(kEndBytes);
  zlib::inflate_stream stream;
  std::string text;
  std::array<char, 16 * 1024> piece;
  zlib::z_params params;
  params.next_in = packed.data();
  params.avail_in = packed.size();
  boost::system::error_code error;
  while (!error) {
    params.next_out = piece.data();
    params.avail_out = piece.size();
    stream.write(params, zlib::Flush::sync, error);
    text.append(piece.data(), piece.size() - params.avail_out);
  }
  return error == zlib::error::end_of_stream ? text : "";
}

}  // namespace ttmem::serve::http

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// gzip (RFC 1952), by the copy of zlib that Boost.Beast has.
//
// A stream that many readers share is packed once: every piece stands alone (it refers to nothing
// before it and ends at a byte), so any sequence of pieces after gzip_head() is one valid stream,
// wherever a reader came in. Such a stream ends with its connection, without a checksum.
#pragma once

#include <string>
#include <string_view>

namespace ttmem::serve::http {

std::string gzip_head();
std::string gzip_piece(std::string_view text);

// A whole file, with its checksum at the end.
std::string gzipped(std::string_view text);

// What was packed whole, by us: a head without extra fields. "" if it is not that.
std::string gunzipped(std::string_view packed);

}  // namespace ttmem::serve::http

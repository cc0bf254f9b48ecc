// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem doctor --bundle FILE`: what somebody who helps needs to see, as a tar archive. Command
// lines, texts of failures and variables that are not of ttmem or TT-Metal stay out of it: secrets
// stand in them.
#pragma once

#include <string>

namespace ttmem::cli {

// Makes the file, which must not exist, for this user alone; "-" is standard output. Returns an
// ExitCode, with words on standard error if the archive could not be written to its end: then there
// is no file.
int write_support_bundle(const std::string& path, const std::string& doctor_json);

}  // namespace ttmem::cli

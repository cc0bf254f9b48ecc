// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whether a program that is started now would be recorded: its recorder keeps silent about what it
// cannot do, so somebody else must say it.
#pragma once

#include <string>

namespace ttmem::inject {

struct RecordingCheck {
  bool disabled = false;  // by who started the program: no news to them
  std::string directory;  ///< where segments are written
  std::string problem;    ///< why nothing will be recorded; "" = it will be
  std::string remedy;     ///< what to do then
};

/// Makes a segment as a recorder would, in this environment, and removes it again.
RecordingCheck check_recording();

}  // namespace ttmem::inject

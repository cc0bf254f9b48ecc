// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/commands.hpp"

namespace ttmem::cli {

const std::vector<Register>& commands() {
  static const std::vector<Register> kAll = {
      register_run,         //
      register_status,      //
      register_top,         //
      register_serve,       //
      register_dump,        //
      register_events,      //
      register_doctor,      //
      register_gc,          //
      register_demo,        //
      register_completion,  //
      register_manual,      //
  };
  return kAll;
}

}  // namespace ttmem::cli

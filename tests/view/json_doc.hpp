// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// docs/json.md as a checker. Its tables, and those of docs/figures.md that it refers to, say which
// fields an object has and of which type; a JSON value is held against them, both ways: no field
// may be missing, and none may be undocumented.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace ttmem::test {

class JsonDoc {
 public:
  JsonDoc();

  // Complaints, one per line; "" if the value is exactly what the table says.
  std::string complaints(const nlohmann::ordered_json& value, const std::string& table) const;

 private:
  using Fields = std::map<std::string, std::string>;  // name -> type
  void read_tables();
  void read_figures();
  Fields fields_of(const std::string& table) const;
  void check(const nlohmann::ordered_json& value, const std::string& type, const std::string& path,
             std::string& complaints) const;
  void check_object(const nlohmann::ordered_json& value, const std::string& table,
                    const std::string& path, std::string& complaints) const;

  std::map<std::string, Fields> tables_;
  std::vector<std::pair<std::string, std::string>> includes_;  // table, table whose fields it has
};

}  // namespace ttmem::test

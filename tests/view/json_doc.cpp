// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json_doc.hpp"

#include <fstream>
#include <regex>

namespace ttmem::test {
namespace {

using Json = nlohmann::ordered_json;

bool is_plain(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  return false;
}

bool is_plain_name(const std::string& type) {
  return type == "integer" || type == "number" || type == "string" || type == "boolean";
}

const std::string kFigures = "figures ";

}  // namespace

JsonDoc::JsonDoc() {
  read_tables();
  read_figures();
}

void JsonDoc::read_tables() {
  std::ifstream file(TTMEM_SOURCE_DIR "/docs/json.md");
  const std::regex heading("### (\\w+)"), row("\\| (\\w+) \\| ([^|]+) \\|.*"),
      include("The (?:fields|figures) of \\[(\\w+)\\](\\(figures)?.*");
  std::string line, table;
  std::smatch match;
  while (std::getline(file, line)) {
    if (std::regex_match(line, match, heading)) {
      table = match[1];
      tables_[table];
    } else if (!table.empty() && std::regex_match(line, match, include)) {
      includes_.emplace_back(table, (match[2].matched ? kFigures : "") + match[1].str());
    } else if (!table.empty() && std::regex_match(line, match, row) && match[1] != "field") {
      tables_[table][match[1]] = match[2];
    }
  }
}

// The figures of a device have a page of their own: all of them are integers, or not known.
void JsonDoc::read_figures() {
  std::ifstream file(TTMEM_SOURCE_DIR "/docs/figures.md");
  const std::regex heading("### (\\w+)"), row("\\| (\\w+) \\| (bytes|count) \\|.*");
  std::string line, table;
  std::smatch match;
  while (std::getline(file, line)) {
    if (std::regex_match(line, match, heading)) {
      table = kFigures + match[1].str();
    } else if (std::regex_match(line, match, row)) {
      tables_[table][match[1]] = "integer or null";
    }
  }
}

JsonDoc::Fields JsonDoc::fields_of(const std::string& table) const {
  Fields fields = tables_.at(table);
  for (const auto& [owner, included] : includes_) {
    if (owner == table) fields.merge(fields_of(included));
  }
  return fields;
}

void JsonDoc::check_object(const Json& value, const std::string& table, const std::string& path,
                           std::string& complaints) const {
  if (!value.is_object()) {
    complaints += path + " is no object\n";
    return;
  }
  const Fields fields = fields_of(table);
  for (const auto& [name, type] : fields) {
    if (!value.contains(name)) {
      complaints += path + "." + name + " is documented and not written\n";
    } else {
      check(value[name], type, path + "." + name, complaints);
    }
  }
  for (const auto& [name, member] : value.items()) {
    if (!fields.contains(name))
      complaints += path + "." + name + " is written and not documented\n";
  }
}

void JsonDoc::check(const Json& value, const std::string& type, const std::string& path,
                    std::string& complaints) const {
  if (type.front() != '{' && type.ends_with(" or null")) {
    if (!value.is_null()) check(value, type.substr(0, type.size() - 8), path, complaints);
  } else if (type.front() == '[') {
    if (!value.is_array()) complaints += path + " is no list\n";
    const std::string member = type.substr(1, type.size() - 2);
    for (const Json& each : value) check(each, member, path + "[]", complaints);
  } else if (type.front() == '{') {
    if (!value.is_object()) complaints += path + " is no object\n";
    const std::string member = type.substr(1, type.size() - 2);
    for (const auto& [name, each] : value.items()) check(each, member, path + "{}", complaints);
  } else if (is_plain_name(type)) {
    if (!is_plain(value, type)) complaints += path + " is no " + type + ": " + value.dump() + "\n";
  } else {
    check_object(value, type, path, complaints);
  }
}

std::string JsonDoc::complaints(const Json& value, const std::string& table) const {
  std::string complaints;
  check_object(value, table, table, complaints);
  return complaints;
}

}  // namespace ttmem::test

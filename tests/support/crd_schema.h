#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "operator/base/check.h"
#include "operator/manifest/reader.h"
#include "tests/support/source_dir.h"
#include "tests/unit/api/structural_schema.h"

namespace weft::testing {

// The text of a file of the source tree.
inline std::string SourceFileText(const std::string& path) {
  std::ifstream file(SourceDir() + "/" + path);
  WEFT_CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// openAPIV3Schema of one of the kinds in crds/, by its plural.
inline nlohmann::json CrdSchema(const std::string& plural) {
  const std::string path = "crds/weft.dev_" + plural + ".yaml";
  const auto document = manifest::ReadDocument({path, SourceFileText(path)});
  WEFT_CHECK(document.has_value());
  return document->at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema");
}

// What an object of etcd holds, with what a request adds: 1.5 MiB.
inline constexpr std::size_t kEtcdBytes = 1'572'864;

// The schema of `status` of that kind.
inline const api::testing::StructuralSchema& StatusSchema(const std::string& plural) {
  static std::map<std::string, api::testing::StructuralSchema> schemas;
  const auto found = schemas.find(plural);
  if (found != schemas.end()) return found->second;
  const nlohmann::json status = CrdSchema(plural).at("properties").at("status");
  return schemas.emplace(plural, api::testing::StructuralSchema(status)).first->second;
}

}  // namespace weft::testing

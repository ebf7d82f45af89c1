#include "tests/world/definitions.h"

#include <fstream>
#include <sstream>
#include <string>

#include "operator/base/check.h"
#include "operator/manifest/reader.h"
#include "tests/support/source_dir.h"

namespace weft::world {
namespace {

nlohmann::json DefinitionIn(const std::string& path) {
  std::ifstream file(testing::SourceDir() + "/" + path);
  WEFT_CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  auto document = manifest::ReadDocument({path, text.str()});
  WEFT_CHECK(document.has_value());
  return std::move(*document);
}

}  // namespace

std::vector<nlohmann::json> WeftDefinitions() {
  std::vector<nlohmann::json> definitions;
  for (const char* plural : {"fabrics", "placements", "trainingjobs"}) {
    definitions.push_back(DefinitionIn(std::string("crds/weft.dev_") + plural + ".yaml"));
  }
  return definitions;
}

}  // namespace weft::world

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/base/check.h"
#include "operator/manifest/reader.h"
#include "operator/manifest/writer.h"

// Any text read as YAML or JSON, whole and as objects; what could be read is written and read back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const weft::manifest::Source source{"fuzz",
                                      std::string(reinterpret_cast<const char*>(bytes), size)};
  const weft::manifest::ObjectSink drop = [](nlohmann::json object, const std::string& place) {
    WEFT_CHECK(object.is_object() && !place.empty());
    return weft::Status();
  };
  (void)weft::manifest::ReadObjects(source, drop);
  const auto document = weft::manifest::ReadDocument(source);
  if (!document || document->is_null()) return 0;
  const auto again = weft::manifest::ReadDocument({"again", weft::manifest::ToYaml(*document)});
  WEFT_CHECK(again && again->dump() == document->dump());
  return 0;
}

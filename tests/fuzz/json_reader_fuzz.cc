#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/base/check.h"
#include "operator/manifest/reader.h"
#include "operator/manifest/text_form.h"

// Any text behind a bracket, so that it is read as JSON unless a line begins as a separator of YAML
// documents. What this reader accepts as one document, another strict reader accepts with the same
// value, and gets back from its own text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text = "[" + std::string(reinterpret_cast<const char*>(bytes), size);
  if (!weft::manifest::LooksLikeJson(text)) return 0;
  const auto document = weft::manifest::ReadDocument({"fuzz", text});
  if (!document) return 0;
  const nlohmann::json other = nlohmann::json::parse(text, nullptr, false);
  WEFT_CHECK(!other.is_discarded() && other.dump() == document->dump());
  return 0;
}

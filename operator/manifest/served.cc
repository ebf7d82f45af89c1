#include "operator/manifest/served.h"

#include <nlohmann/json.hpp>

#include "operator/manifest/object_builder.h"
#include "operator/manifest/parse_json.h"
#include "operator/manifest/text_check.h"

namespace weft::manifest {

Result<nlohmann::json> ReadServed(const std::string& name, const std::string& text,
                                  Subject subject) {
  if (!IsCleanUtf8(text)) return Invalid(name + ": not UTF-8, or a NUL byte");
  nlohmann::json document;
  const ObjectSink keep = [&](nlohmann::json value, const std::string&) {
    document = std::move(value);
    return Status();
  };
  const Limits limits;
  ObjectBuilder builder(name, limits, {ObjectBuilder::Mode::kServed, subject}, keep);
  if (Status status = ParseJson(name, text, builder); !status) return status.error();
  if (!document.is_object()) return Invalid(name + ": not an object");
  return document;
}

}  // namespace weft::manifest

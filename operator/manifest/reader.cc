#include "operator/manifest/reader.h"

#include <nlohmann/json.hpp>

#include "operator/manifest/object_builder.h"
#include "operator/manifest/parse_json.h"
#include "operator/manifest/parse_yaml.h"
#include "operator/manifest/read_stream.h"
#include "operator/manifest/text_check.h"
#include "operator/manifest/text_form.h"

namespace weft::manifest {
namespace {

// Checks limits and encoding, and removes a byte order mark from `text`.
Status CheckText(const Source& source, const Limits& limits, std::string_view& text) {
  if (text.size() > limits.bytes) {
    return Invalid(source.name + ": larger than " + std::to_string(limits.bytes) + " bytes");
  }
  text = WithoutByteOrderMark(text);
  const std::optional<std::size_t> bad = FirstBadByte(text);
  if (!bad) return {};
  return Invalid(source.name + ": line " + std::to_string(LineAt(text, *bad)) +
                 (text[*bad] == '\0' ? ": a NUL byte" : ": not UTF-8"));
}

Result<std::size_t> Read(const Source& source, const ObjectSink& sink, const Limits& limits,
                         ObjectBuilder::Mode mode) {
  std::string_view text = source.text;
  if (Status status = CheckText(source, limits, text); !status) return status.error();
  ObjectBuilder builder(source.name, limits, {mode}, sink);
  const Status status = LooksLikeJson(text) ? ParseJson(source.name, text, builder)
                                            : ParseYaml(source.name, text, builder);
  if (!status) return status.error();
  return builder.documents_read();
}

}  // namespace

Result<std::size_t> ReadStream(const Source& source, const ObjectSink& sink, const Limits& limits) {
  return Read(source, sink, limits, ObjectBuilder::Mode::kObjects);
}

Status ReadObjects(const Source& source, const ObjectSink& sink, const Limits& limits) {
  const Result<std::size_t> documents = ReadStream(source, sink, limits);
  if (!documents) return documents.error();
  return {};
}

Result<nlohmann::json> ReadDocument(const Source& source, const Limits& limits) {
  nlohmann::json document;
  const ObjectSink keep = [&](nlohmann::json value, const std::string&) {
    document = std::move(value);
    return Status();
  };
  const Result<std::size_t> documents = Read(source, keep, limits, ObjectBuilder::Mode::kDocument);
  if (!documents) return documents.error();
  if (*documents == 0) return Invalid(source.name + ": no document");
  return document;
}

}  // namespace weft::manifest

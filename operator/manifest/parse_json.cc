#include "operator/manifest/parse_json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include "operator/manifest/number.h"
#include "operator/manifest/text_check.h"

namespace weft::manifest {
namespace {

using Json = nlohmann::json;
using Length = rapidjson::SizeType;

// Passes RapidJSON's events on.
class ObjectEvents {
 public:
  // `escapes`: the text has \u escapes, which may be half of a surrogate pair.
  ObjectEvents(ObjectBuilder& builder, bool escapes) : builder_(builder), escapes_(escapes) {}

  bool Null() { return builder_.Scalar(nullptr); }
  bool Bool(bool value) { return builder_.Scalar(value); }
  bool RawNumber(const char* text, Length size, bool) {
    const std::string_view view(text, size);
    std::optional<Json> number = ParseNumber(view, view.find_first_of(".eE") == view.npos);
    if (!number) return builder_.Refuse("number out of range: " + ForMessage(view));
    return builder_.Scalar(std::move(*number));
  }
  // Never called: numbers are delivered as raw text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* text, Length size, bool) {
    const std::string_view view(text, size);
    return Clean(view) && builder_.String(view);
  }
  bool Key(const char* text, Length size, bool) {
    const std::string_view view(text, size);
    return Clean(view) && builder_.Key(view);
  }
  bool StartObject() { return builder_.StartMap(); }
  bool EndObject(Length) { return builder_.End(); }
  bool StartArray() { return builder_.StartList(); }
  bool EndArray(Length) { return builder_.End(); }

 private:
  bool Clean(std::string_view text) {
    if (!escapes_ || IsCleanUtf8(text)) return true;
    return builder_.Refuse("a \\u escape of NUL or of half a character");
  }

  ObjectBuilder& builder_;
  const bool escapes_;
};

bool OnlySpaceFrom(std::string_view text, std::size_t offset) {
  return text.find_first_not_of(" \t\r\n", offset) == text.npos;
}

}  // namespace

Status ParseJson(const std::string& name, std::string_view text, ObjectBuilder& builder) {
  constexpr unsigned kFlags =
      rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::Reader reader;
  rapidjson::StringStream stream(text.data());
  ObjectEvents events(builder, text.find("\\u") != text.npos);
  while (!OnlySpaceFrom(text, stream.Tell())) {
    if (!builder.StartDocument()) return builder.Failure(LineAt(text, stream.Tell()));
    if (reader.Parse<kFlags>(stream, events)) continue;
    const std::size_t line = LineAt(text, reader.GetErrorOffset());
    if (reader.GetParseErrorCode() == rapidjson::kParseErrorTermination) {
      return builder.Failure(line);
    }
    return Invalid(name + ": line " + std::to_string(line) +
                   ": not JSON: " + rapidjson::GetParseError_En(reader.GetParseErrorCode()));
  }
  return {};
}

}  // namespace weft::manifest

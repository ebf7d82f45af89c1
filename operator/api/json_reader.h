#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/meta.h"
#include "operator/base/result.h"

namespace weft::api {

class Field;

// One object being decoded. It keeps the first error; reads after that return fallbacks, so a
// decoder reads on and checks status() once at its end. It must outlive its Fields, and the json
// must outlive both.
//
//   Decoding decoding(object, place);            // place: "jobs.yaml: document 2"
//   const Field spec = decoding.Root()["spec"];
//   spec.RefuseUnknown({"replicas", "name"});
//   job.replicas = spec["replicas"].Require().Int({.min = 1, .max = 16384});
//   if (Status status = decoding.status(); !status) return status.error();
class Decoding {
 public:
  // Messages start with `place`, the kind and the name of the object, then the field's path.
  Decoding(const nlohmann::json& object, const Place& place, Reading reading = Reading::kStrict);
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  Field Root();
  Status status() const;
  bool failed() const { return !why_.empty(); }
  // The first error, without the place: "spec.workers.replicas: must be an integer"; "" if none.
  const std::string& why() const { return why_; }
  // "jobs.yaml: document 2: TrainingJob team-a/x".
  const Place& place() const { return place_; }

 private:
  friend class Field;
  struct PathPart {  // one step of a path; the key is in the json or a literal
    std::uint32_t parent;
    std::uint32_t index;  // kKey: the step is a member, else an element
    std::string_view key;
  };
  static constexpr std::uint32_t kKey = std::numeric_limits<std::uint32_t>::max();

  std::string Path(std::uint32_t step) const;

  const nlohmann::json* object_;
  Place place_;
  Reading reading_;
  std::vector<PathPart> steps_;
  std::string why_;
};

struct IntRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// A value somewhere inside an object, or its absence (null is absent, as in the API server). Cheap
// to copy. Accessors return the fallback if the field is absent. If the value is of another type,
// they note an error with the field's path ("spec.workers.replicas: must be an integer").
class Field {
 public:
  bool present() const { return value_ != nullptr; }
  // The member of that name; absent if this field is absent. `key` is a literal or lives as long as
  // the json.
  Field operator[](std::string_view key) const;

  // Notes "is required" if the field is absent.
  const Field& Require() const;
  // If the reading is strict, notes "unknown field" for each member that is not listed. Only for
  // objects.
  void RefuseUnknown(std::span<const std::string_view> known) const;
  void RefuseUnknown(std::initializer_list<std::string_view> known) const {
    RefuseUnknown(std::span(known.begin(), known.size()));
  }
  // Notes an error at this field: "<path>: <value> <what>", `what` says what the value must be or
  // is ("must be at least 1"). The message leaves out the value if the field is absent or its value
  // is long.
  void Fail(const std::string& what) const;

  std::string Str(std::string_view fallback = "") const;
  bool Bool(bool fallback = false) const;
  // Integers; a float with an integer value (1e3) counts too.
  std::int64_t Int(IntRange range = {}, std::int64_t fallback = 0) const;
  std::optional<std::int64_t> OptionalInt(IntRange range = {}) const;
  double Number(double fallback = 0) const;
  // A resource.Quantity, given as text or number: in whole units (rounded up), in thousandths.
  std::int64_t Quantity(std::int64_t fallback = 0) const;
  std::int64_t MilliQuantity(std::int64_t fallback = 0) const;
  std::optional<std::int64_t> OptionalQuantity() const;
  // The index of the text in `names`; notes "must be one of ..." for any other text.
  std::size_t OneOf(std::initializer_list<std::string_view> names, std::size_t fallback = 0) const;

  std::vector<Field> Items() const;    // elements of an array
  std::vector<Field> Members() const;  // members of an object, by key
  std::string_view key() const;        // name of a member
  std::vector<std::string> StrList() const;
  std::map<std::string, std::string> StrMap() const;
  TextMap Texts() const;

  std::string path() const;
  Reading reading() const { return decoding_->reading_; }
  const nlohmann::json* json() const { return value_; }

 private:
  friend class Decoding;
  Field(Decoding* decoding, const nlohmann::json* value, std::uint32_t step);
  Field Below(const nlohmann::json* value, Decoding::PathPart step) const;
  void FailType(const std::string& wanted) const;
  void Note(const std::string& what) const;  // "<path>: <what>"
  std::optional<std::int64_t> AnyQuantity(bool milli) const;

  Decoding* decoding_;
  const nlohmann::json* value_;
  std::uint32_t step_;
};

// Appends a key to a field's path, such as "spec.template.spec.containers[0].name". A key with
// characters other than letters, digits, '_' and '-' is put in brackets, and shortened if long.
void AppendKey(std::string_view key, std::string& path);
void AppendIndex(std::size_t index, std::string& path);

// Readers of parts that several kinds share.
enum class Scope { kNamespaced, kCluster };
// `metadata`; the name is required, and the namespace of a namespaced kind defaults to "default".
ObjectMeta DecodeMeta(const Field& metadata, Scope scope);
std::vector<Condition> DecodeConditions(const Field& conditions);
std::vector<ExcludedNode> DecodeExcludedNodes(const Field& nodes);
Retry DecodeRetry(const Field& retry);
// An object {matchLabels, matchExpressions}.
fabric::LabelSelector DecodeLabelSelector(const Field& selector);
fabric::SelectorExpression DecodeSelectorExpression(const Field& expression);
// A copy of the object, for the `raw` members of Inputs.
Raw MakeRaw(const nlohmann::json& object);

}  // namespace weft::api

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/manifest/source.h"

namespace weft::manifest {

// One event of a YAML parser.
struct YamlPart {
  enum class Type : std::uint8_t { kScalar, kAlias, kMap, kList, kEnd };
  Type type = Type::kEnd;
  bool plain = false;       // a scalar without quotes
  std::size_t line = 0;     // from 1
  std::string_view tag;     // "": none
  std::string_view text;    // a scalar's
  std::string_view anchor;  // of *anchor for an alias, of &anchor for the others; "": none
};

// Keeps the parts of anchored values, so that aliases can read them again. Parts are kept once, in
// the order of the text: a value inside another anchor's value is not kept twice, and an alias in
// it is one part, however much it stands for.
//
// Cost  nothing outside anchors; inside, memory for the parts, at most Limits::alias_values of them
//       and Limits::alias_bytes of text per document.
class YamlAnchors {
 public:
  struct Span {
    std::size_t begin = 0, end = 0;  // into the kept parts
  };
  struct Value {
    std::string name;  // "" for what KeepNext asked for
    std::size_t line = 0;
    Span span;  // span.end is 0 until the value is complete
    // Scalars, maps, lists and bytes of text with all aliases in it written out; one more than the
    // limit if larger, or if not kept.
    std::size_t values = 0, bytes = 0;
  };

  explicit YamlAnchors(const Limits& limits) : limits_(limits) {}

  void StartDocument();  // anchors are known in their document only
  // Takes the next part of the text. Precondition for an alias: Find knows a complete value.
  void Record(const YamlPart& part);
  // Keeps the next value, which may have no anchor.
  void KeepNext() { keep_next_ = true; }
  // The value that KeepNext asked for, once, after its last part.
  std::optional<Value> TakeKept() { return std::exchange(kept_, std::nullopt); }

  // The last value that began with the anchor; null if there is none.
  const Value* Find(std::string_view anchor) const;
  // The view is valid until the next Record.
  YamlPart PartAt(std::size_t at) const;
  // The value of an alias among the kept parts.
  const Value& ValueOfAlias(std::size_t at) const { return values_[parts_[at].value]; }
  // One past the last part of the value that begins at `at`.
  std::size_t EndOf(std::size_t at) const;

 private:
  struct Kept {
    YamlPart part;  // its texts are in the members below
    std::string tag, text;
    std::size_t value = 0;  // an alias's, into values_
  };
  struct Open {
    std::size_t value;  // into values_
    std::size_t depth;
  };

  void Begin(std::string_view name, std::size_t line);
  void Keep(const YamlPart& part);
  void Close();

  const Limits& limits_;
  std::vector<Kept> parts_;
  std::vector<Value> values_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<Open> open_;
  std::size_t depth_ = 0;
  // Of all kept parts with aliases written out. At most (2^31 bytes of text) * (the limit + 1).
  std::uint64_t values_so_far_ = 0, bytes_so_far_ = 0;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;  // the document's anchors hold more than the limits
  bool keep_next_ = false;
  std::optional<Value> kept_;
};

}  // namespace weft::manifest

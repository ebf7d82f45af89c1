#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/manifest/object_builder.h"
#include "operator/manifest/yaml_anchors.h"
#include "operator/manifest/yaml_scalar.h"

namespace weft::manifest {

// Checks the parts of a YAML text, writes aliases and merge keys out, and passes the rest to the
// builder. A method that takes input returns false if reading must stop; the builder says why.
//
// The members of a merge key (yaml.org/type/merge.html) follow at the end of their map, because the
// map's own members win wherever they stand, and the first map in a list of maps wins.
class YamlEvents {
 public:
  YamlEvents(ObjectBuilder& builder, const Limits& limits)
      : builder_(builder), limits_(limits), anchors_(limits) {}

  bool StartDocument();
  bool Take(const YamlPart& part);

  // After a refusal: the line of the text that was refused, or of the alias that stands for it.
  std::size_t line() const { return line_; }
  // Where an alias or a merge key read it from, for the message; "" if it stands in the line.
  std::string Source() const;

 private:
  using Type = YamlPart::Type;
  using Span = YamlAnchors::Span;
  using Value = YamlAnchors::Value;
  enum class Next : std::uint8_t { kItem, kKey, kValue, kMerge };
  struct Open {
    Next next;
    std::optional<Span> merge;  // the value of the map's merge key
  };

  bool Merging() const { return !open_.empty() && open_.back().next == Next::kMerge; }
  bool KeyIsNext() const { return !open_.empty() && open_.back().next == Next::kKey; }

  bool CheckAlias(const YamlPart& alias);

  // Counts a value that is read once more against the limits of the whole text.
  bool CountOf(const Value& value, const std::string& what);

  // Passes on one part of the text or of a kept value. `value`: an alias's.
  bool Process(const YamlPart& part, const Value* value);
  bool TakeAlias(const YamlPart& alias, const Value& value);
  bool ProcessKept(std::size_t at);

  // Passes on kept parts: whole values.
  bool Replay(Span span);
  bool RefuseDepth();
  bool IsMap(std::size_t at) const;
  bool CheckMerge(Span value, bool second);
  bool AddMerge(Span value);

  // Adds the members of a merge key's value that the innermost map lacks.
  bool Merge(Span value);
  bool MergeMap(Span map);
  YamlPart KeyAt(std::size_t at) const;
  void TookValue();
  bool TakeStart(std::string_view tag, std::string_view usual, Next next);
  bool TakeEnd();
  bool TakeScalar(const YamlPart& scalar);
  bool TakeValue(const YamlPart& scalar);
  bool TakeNumber(std::string_view text, Plain kind);
  bool RefuseTag(std::string_view tag);

  ObjectBuilder& builder_;
  const Limits& limits_;
  YamlAnchors anchors_;
  std::vector<Open> open_;              // maps and lists, outermost first
  std::size_t depth_ = 0;               // of aliases and merge keys that are being read
  std::size_t values_ = 0, bytes_ = 0;  // that aliases and merge keys have added
  std::size_t line_ = 0, source_line_ = 0;
};

}  // namespace weft::manifest

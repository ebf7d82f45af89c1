#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/reader.h"

namespace weft::manifest {

// Which value of a text: a document (1 for the first), an item of its List, and a path below the
// object, written as api/json_reader.h does.
struct ValuePlace {
  std::size_t document = 1;
  std::optional<std::size_t> item;
  std::string path;
};

// The line of the value's key, or of the nearest map or list around it that the text has; nothing
// if there is no such document or item, or if the text cannot be read so far. Cost  reads the text
// once more, and keeps nothing of it.
std::optional<std::size_t> LineOf(std::string_view text, const ValuePlace& place);

// The message with the line in front of its place: "a.yaml: document 2: TrainingJob x: spec.y: 0
// must be..." becomes "a.yaml: line 31: document 2: ...", and "a.yaml: blocks[0].switch: ..." too gets
// its line. Unchanged if the message starts with none of the sources, or names a line already.
std::string WithLine(const std::vector<Source>& sources, const std::string& message);

}  // namespace weft::manifest

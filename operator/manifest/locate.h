#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/source.h"

namespace weft::manifest {

// The place of a value in a text: document (from 1), item of its List, and path inside the object,
// written as in api/json_reader.h.
struct ValuePlace {
  std::size_t document = 1;
  std::optional<std::size_t> item;
  std::string path;
};

// The line of the value's key, or else of the nearest enclosing map or list in the text. Nothing if
// the document or item does not exist, or cannot be read.
// Cost  reads the text again without storing it.
std::optional<std::size_t> LineOf(std::string_view text, const ValuePlace& place);

// Adds the line to the place of a message: "a.yaml: document 2: TrainingJob x: spec.y: 0 must
// be..." becomes "a.yaml: line 31: document 2: ..."; "a.yaml: blocks[0].switch: ..." gets its line
// too. The message is unchanged if it starts with no source's name or names a line already.
std::string WithLine(const std::vector<Source>& sources, const std::string& message);

}  // namespace weft::manifest

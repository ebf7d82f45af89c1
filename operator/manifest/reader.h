#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/inputs.h"
#include "operator/base/result.h"

namespace weft::manifest {

// Limits for hostile input. Each is a count or a size, never wall time.
struct Limits {
  std::size_t bytes = std::size_t{2} << 30;
  std::size_t depth = 64;
  std::size_t values = 400'000'000;  // scalars, maps and sequences in one text
  std::size_t documents = 2'000'000;
  std::size_t scalar_bytes = std::size_t{4} << 20;
  // What all aliases and merge keys of one text may add: a few lines can stand for any number of
  // values ("billion laughs"). 5,000 nodes with 60 aliased values each have 300,000; a million
  // values take about 100 MB and 0.2 s.
  std::size_t alias_values = 1'000'000;
  std::size_t alias_bytes = std::size_t{64} << 20;
};

// One text, and its name in messages.
struct Source {
  std::string name;  // a path, "-" for standard input
  std::string text;
};

// Called once per object, in order. `place` is "FILE: document 2" or "FILE: document 1: items[7]".
using ObjectSink = std::function<Status(nlohmann::json object, const std::string& place)>;

// Splits one YAML stream or JSON text (one value, or several in a row) into Kubernetes objects:
// documents, and the items of a List (v1 List or any <Kind>List), one at a time, so that a list of
// 100,000 nodes is never in memory as a whole. A text is JSON if it starts with '[', or with '{'
// and then '"' or '}'; any other text is YAML. Parts of Nodes and Pods that Weft does not use
// (managedFields, status.images, container environment...) are dropped while reading and use no
// memory.
//
// YAML scalars become JSON by tag and style, as in kubectl: a quoted scalar is a string; plain
// null, true/false, integers and floats have their types; plain yes/no/on/off/y/n are an error that
// says to quote them. Aliases (*name) and merge keys (<<) are written out, also as in kubectl; a
// map's own keys win over merged ones. Unknown aliases, those inside their own anchor, duplicate
// keys, non-UTF-8, NUL, nesting deeper than `depth`, and keys of several megabytes are errors.
// Errors  kInvalid: "FILE: line 12: ..." (syntax), or the error that the sink returned.
Status ReadObjects(const Source& source, const ObjectSink& sink, const Limits& limits = {});

// Reads and decodes (api/decode.h) all sources in order. Duplicate objects are an error, and so are
// sources without a single document.
// Errors  kInvalid: "FILE: line 12: document 2: TrainingJob team-a/x: spec.workers.replicas: 0 must
//         be at least 1".
Result<api::Inputs> ReadInputs(const std::vector<Source>& sources, const Limits& limits = {},
                               api::Reading reading = api::Reading::kStrict);

// One YAML or JSON document as a value (for topograph models), with the same limits.
Result<nlohmann::json> ReadDocument(const Source& source, const Limits& limits = {});

}  // namespace weft::manifest

#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/result.h"

namespace weft::manifest {

// Bounds on hostile input; a count or a size each, never wall time.
struct Limits {
  std::size_t bytes = std::size_t{2} << 30;
  std::size_t depth = 64;
  std::size_t values = 400'000'000;  // scalars, maps and sequences of one text
  std::size_t documents = 2'000'000;
  std::size_t scalar_bytes = std::size_t{4} << 20;
};

// One text and the name to call it in messages.
struct Source {
  std::string name;  // a path, "-" for standard input
  std::string text;
};

// Called once per object, in order. `place` is "FILE: document 2" or "FILE: document 1: items[7]".
using ObjectSink = std::function<Status(nlohmann::json object, const std::string& place)>;

// Splits one YAML stream or JSON text (one value, or several behind each other) into Kubernetes
// objects: documents, and the items of a List (v1 List or any <Kind>List), one at a time, so that
// a list of 100,000 nodes never stands in memory whole. JSON is what starts with '[', or with '{'
// and then '"' or '}'; everything else is YAML.
// Parts of Nodes and Pods that Weft never reads (managedFields, status.images, container
// environment...) are dropped while reading: memory stays that of what is kept.
//
// YAML scalars become JSON by tag and style, as kubectl reads them: quoted is a string; plain
// null, true/false, integers and floats are typed; yes/no/on/off/y/n are an error that says to
// quote them. Aliases, duplicate keys, non-UTF-8, NUL, nesting past `depth`, multi-megabyte keys
// are errors.
// Errors  kInvalid: "FILE: line 12: ..." (syntax) or whatever the sink returned.
Status ReadObjects(const Source& source, const ObjectSink& sink, const Limits& limits = {});

// All sources, decoded (api/decode.h), in order; duplicates refused. No document at all in all
// sources together is an error.
// Errors  kInvalid: "FILE: line 12: document 2: TrainingJob team-a/x: spec.workers.replicas: 0 must be
// at least 1".
Result<api::Inputs> ReadInputs(const std::vector<Source>& sources, const Limits& limits = {});

// One YAML or JSON document as a value (topograph models): same guards.
Result<nlohmann::json> ReadDocument(const Source& source, const Limits& limits = {});

}  // namespace weft::manifest

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/base/result.h"
#include "operator/manifest/source.h"

namespace weft::manifest {

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

// One YAML or JSON document as a value (for topograph models), with the same limits.
Result<nlohmann::json> ReadDocument(const Source& source, const Limits& limits = {});

}  // namespace weft::manifest

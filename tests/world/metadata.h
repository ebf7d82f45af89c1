#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/world/cause.h"
#include "tests/world/kinds.h"

namespace weft::world {

using Json = nlohmann::json;

// What is wrong with the metadata of a new object.
void CheckMetadata(const Kind& kind, const Json& metadata, Causes& causes);
// What may not change in it.
void CheckMetadataChange(const Json& before, const Json& after, Causes& causes);

// Drops what the API server's own types leave out: empty fields of the metadata, and in built-in
// kinds also nulls, empty lists, empty maps and empty texts.
void DropEmpty(const Kind& kind, Json& object);

}  // namespace weft::world

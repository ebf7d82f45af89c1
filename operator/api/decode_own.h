#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// The parts of a decoder for one of Weft's own kinds.
template <typename Kind>
struct OwnKind {
  Scope scope = Scope::kNamespaced;
  // Reads the status, which is used even if the spec cannot be read.
  void (*read_held)(const Field& root, Kind& object);
  void (*read_spec)(const Field& root, Kind& object);
  // Checks the whole object, if every field could be read; a message starts with a field's path.
  Status (*check)(const Kind& object);
};

template <typename Kind>
Status ReadHeld(const OwnKind<Kind>& parts, const nlohmann::json& json, const Place& place,
                Reading reading, Kind& object) {
  Decoding metadata(json, place, reading), held(json, place, reading);
  object.place = metadata.place();
  object.meta = DecodeMeta(metadata.Root()["metadata"], parts.scope);
  if constexpr (requires { object.wait; }) {
    if (reading != Reading::kServed) object.wait = DecodeWaitFacts(metadata.Root()["metadata"]);
  }
  if (metadata.failed()) return metadata.status();
  parts.read_held(held.Root(), object);
  return reading == Reading::kServed ? Status() : held.status();
}

template <typename Kind>
Result<Kind> DecodeOwn(const OwnKind<Kind>& parts, const nlohmann::json& json, const Place& place,
                       Reading reading) {
  Kind object;
  if (Status held = ReadHeld(parts, json, place, reading, object); !held) return held.error();
  Decoding decoding(json, place, reading);
  parts.read_spec(decoding.Root(), object);
  std::string why = decoding.why();
  if (why.empty()) {
    if (const Status whole = parts.check(object); !whole) why = whole.error().message;
  }
  if (!why.empty()) {
    if (reading != Reading::kServed) return Invalid(decoding.place() + ": " + why);
    object = Kind();  // no half-read value
    if (Status held = ReadHeld(parts, json, place, reading, object); !held) return held.error();
    object.unreadable = std::move(why);
  }
  object.raw = MakeRaw(json);
  return object;
}

}  // namespace weft::api

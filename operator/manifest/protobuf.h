#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace weft::manifest {

// Messages of Kubernetes' protobuf. Writing Nodes and Pods this way costs an API server a third of
// writing JSON.
enum class Message : std::uint8_t {
  kEnvelope,    // {"typeMeta": {"kind"}, "raw": bytes}, after the four bytes of kMagic
  kWatchEvent,  // {"type", "object": {"raw": bytes of an envelope}}
  kList,        // {"metadata", "items": [bytes of an object]}
  kObject,      // {"metadata"} of any kind
  kNode,
  kPod,
  kStatus,
};

inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

// Converts a message to the equivalent JSON, limited to the fields of Nodes and Pods that
// keep_rules.h keeps and api/decode.h reads. Empty texts are left out, as in JSON. Bytes become
// text with any content. `clean` becomes false if a text that is not UTF-8, or contains NUL, had to
// be left out.
//
// Errors  returns false if the bytes are not such a message.
// Cost    linear; 10 us for a Pod of 4 kB.
// Source  k8s.io/api core/v1 and k8s.io/apimachinery meta/v1 and runtime, generated.proto: numbers
//         of fields never change.
bool ReadProtobuf(std::string_view bytes, Message message, nlohmann::json& json, bool& clean);

}  // namespace weft::manifest

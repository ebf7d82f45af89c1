#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/base/check.h"
#include "operator/manifest/protobuf.h"

// Any bytes as any message. What is read is JSON that can be written, and the same the next time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using weft::manifest::Message;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const Message message : {Message::kObject, Message::kNode, Message::kPod, Message::kStatus,
                                Message::kEnvelope, Message::kWatchEvent, Message::kList}) {
    nlohmann::json json, again;
    bool clean = true;
    if (!weft::manifest::ReadProtobuf(text, message, json, clean)) continue;
    const bool holds_bytes = message == Message::kEnvelope || message == Message::kWatchEvent ||
                             message == Message::kList;
    if (!holds_bytes) WEFT_CHECK(!json.dump().empty());
    WEFT_CHECK(weft::manifest::ReadProtobuf(text, message, again, clean) && json == again);
  }
  return 0;
}

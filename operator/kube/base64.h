#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::kube {

// The bytes behind standard base64 with padding, white space left out; nothing where it is none.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace weft::kube

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

// JSON from and to text. These two functions stand here so that one source file compiles the parser
// and the writer of nlohmann/json: each further one would take the compiler about a second.
namespace weft::api {

// The value; if the text is not exactly one JSON value, is_discarded().
nlohmann::json ParseJson(std::string_view text);

// The shortest text. Bytes that are not UTF-8 become U+FFFD: a name or message that somebody else
// wrote must not end the program.
std::string JsonText(const nlohmann::json& value);
std::string JsonText(const nlohmann::ordered_json& value);

}  // namespace weft::api

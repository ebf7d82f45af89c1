// Merge patches (RFC 7396) and JSON patches (RFC 6902).
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

void MergeInto(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (const auto& [name, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(name);
    } else {
      MergeInto(target[name], value);
    }
  }
}

std::optional<std::vector<std::string>> PointerOf(const Json& path) {
  if (!path.is_string()) return std::nullopt;
  const auto& text = path.get_ref<const std::string&>();
  std::vector<std::string> tokens;
  if (text.empty()) return tokens;
  if (text[0] != '/') return std::nullopt;
  std::string token;
  for (std::size_t i = 1; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == '/') {
      tokens.push_back(std::exchange(token, ""));
    } else if (text[i] == '~' && i + 1 < text.size()) {
      token += text[++i] == '1' ? '/' : '~';
    } else {
      token += text[i];
    }
  }
  return tokens;
}

// "-" is the end of a list.
std::optional<std::size_t> PlaceIn(const Json& list, const std::string& token) {
  if (token == "-") return list.size();
  if (token.empty() || token.size() > 6) return std::nullopt;
  std::size_t place = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return std::nullopt;
    place = place * 10 + static_cast<std::size_t>(c - '0');
  }
  return place <= list.size() ? std::optional(place) : std::nullopt;
}

Json* ChildOf(Json& parent, const std::string& token) {
  if (parent.is_object()) {
    const auto found = parent.find(token);
    return found == parent.end() ? nullptr : &*found;
  }
  if (!parent.is_array()) return nullptr;
  const auto place = PlaceIn(parent, token);
  return place && *place < parent.size() ? &parent[*place] : nullptr;
}

Json* Part(Json& root, const std::vector<std::string>& tokens, std::size_t depth) {
  Json* at = &root;
  for (std::size_t i = 0; at != nullptr && i < depth; ++i) at = ChildOf(*at, tokens[i]);
  return at;
}

// One operation of a JSON patch; false if it fails.
class Operation {
 public:
  explicit Operation(const Json& operation) : operation_(operation) {}

  bool Apply(Json& root) const {
    const std::string name = api::TextAt(operation_, "op");
    const auto path = PointerOf(operation_.value("path", Json()));
    if (!path) return false;
    const Json* value = api::FindMember(operation_, "value");
    if (name == "test") {
      const Json* at = Part(root, *path, path->size());
      if (at == nullptr) {  // an absent member of an object that is there counts as null
        const Json* parent = path->empty() ? nullptr : Part(root, *path, path->size() - 1);
        const bool there = parent != nullptr && parent->is_object();
        return there && (value == nullptr || value->is_null());
      }
      return value == nullptr ? at->is_null() : *at == *value;
    }
    if (name == "remove") return Remove(root, *path);
    if (name == "add") return Add(root, *path, value == nullptr ? Json() : *value);
    if (name == "replace") return Replace(root, *path, value == nullptr ? Json() : *value);
    const auto from = PointerOf(operation_.value("from", Json()));
    const Json* source = from ? Part(root, *from, from->size()) : nullptr;
    if (source == nullptr || (name != "move" && name != "copy")) return false;
    Json moved = *source;
    if (name == "move" && !Remove(root, *from)) return false;
    return Add(root, *path, std::move(moved));
  }

 private:
  static bool Remove(Json& root, const std::vector<std::string>& path) {
    if (path.empty()) return false;
    Json* parent = Part(root, path, path.size() - 1);
    if (parent == nullptr || ChildOf(*parent, path.back()) == nullptr) return false;
    if (parent->is_object()) {
      parent->erase(path.back());
    } else {
      parent->erase(*PlaceIn(*parent, path.back()));
    }
    return true;
  }

  // As in the library of the API server, a member that is absent is added.
  static bool Replace(Json& root, const std::vector<std::string>& path, Json value) {
    Json* parent = path.empty() ? nullptr : Part(root, path, path.size() - 1);
    if (parent != nullptr && parent->is_object()) {
      (*parent)[path.back()] = std::move(value);
      return true;
    }
    Json* at = Part(root, path, path.size());
    if (at != nullptr) *at = std::move(value);
    return at != nullptr;
  }

  static bool Add(Json& root, const std::vector<std::string>& path, Json value) {
    if (path.empty()) {
      root = std::move(value);
      return true;
    }
    Json* parent = Part(root, path, path.size() - 1);
    if (parent == nullptr) return false;
    if (parent->is_object()) {
      (*parent)[path.back()] = std::move(value);
      return true;
    }
    const auto place = parent->is_array() ? PlaceIn(*parent, path.back()) : std::nullopt;
    if (!place) return false;
    parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*place), std::move(value));
    return true;
  }

  const Json& operation_;
};

}  // namespace

Refusal ApiServer::State::MergePatch(const Call& call, Json& next) const {
  const Json patch = api::ParseJson(call.request.body);
  if (patch.is_discarded()) return BadRequest("error decoding patch: invalid character");
  if (!patch.is_object()) {
    return BadRequest("json: cannot unmarshal into Go value of type map[string]interface {}");
  }
  MergeInto(next, patch);
  return std::nullopt;
}

Refusal ApiServer::State::JsonPatch(const Call& call, Json& next) const {
  const Json patch = api::ParseJson(call.request.body);
  if (patch.is_discarded() || !patch.is_array()) return BadRequest("error decoding patch");
  for (const Json& operation : patch) {
    if (!operation.is_object()) return BadRequest("error decoding patch");
    if (!Operation(operation).Apply(next)) {
      return Failure(422, "Invalid",
                     "the server rejected our request due to an error in our request",
                     Json::object());
    }
  }
  return std::nullopt;
}

}  // namespace weft::world

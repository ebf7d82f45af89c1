// Merge patches (RFC 7396), JSON patches (RFC 6902) and server-side apply.
#include <algorithm>
#include <set>
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

Json* At(Json& root, const std::vector<std::string>& tokens, std::size_t depth) {
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
      const Json* at = At(root, *path, path->size());
      if (at == nullptr) return value == nullptr || value->is_null();
      return value == nullptr ? at->is_null() : *at == *value;
    }
    if (name == "remove") return Remove(root, *path);
    if (name == "add") return Add(root, *path, value == nullptr ? Json() : *value);
    if (name == "replace") return Replace(root, *path, value == nullptr ? Json() : *value);
    const auto from = PointerOf(operation_.value("from", Json()));
    const Json* source = from ? At(root, *from, from->size()) : nullptr;
    if (source == nullptr || (name != "move" && name != "copy")) return false;
    Json moved = *source;
    if (name == "move" && !Remove(root, *from)) return false;
    return Add(root, *path, std::move(moved));
  }

 private:
  static bool Remove(Json& root, const std::vector<std::string>& path) {
    if (path.empty()) return false;
    Json* parent = At(root, path, path.size() - 1);
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
    Json* parent = path.empty() ? nullptr : At(root, path, path.size() - 1);
    if (parent != nullptr && parent->is_object()) {
      (*parent)[path.back()] = std::move(value);
      return true;
    }
    Json* at = At(root, path, path.size());
    if (at != nullptr) *at = std::move(value);
    return at != nullptr;
  }

  static bool Add(Json& root, const std::vector<std::string>& path, Json value) {
    if (path.empty()) {
      root = std::move(value);
      return true;
    }
    Json* parent = At(root, path, path.size() - 1);
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

// Server-side apply of one configuration. A field belongs to this manager if it set it last; what
// the earlier configuration had and this one has not is removed.
class Applying {
 public:
  Applying(const Kind& kind, std::vector<const Json*> others)
      : kind_(kind), others_(std::move(others)) {}

  std::vector<std::string> conflicts;

  void Merge(Json& live, const Json& config, const Json* earlier,
             const std::vector<std::string>& path) {
    if (config.is_object() && (live.is_object() || live.is_null())) {
      if (live.is_null()) live = Json::object();
      MergeObject(live, config, earlier, path);
      return;
    }
    const std::vector<std::string> keys = KeysOf(path);
    if (config.is_array() && !keys.empty() && (live.is_array() || live.is_null())) {
      if (live.is_null()) live = Json::array();
      MergeList(live, config, earlier, path);
      return;
    }
    const bool mine = earlier != nullptr && *earlier == live;
    if (!live.is_null() && live != config && !mine) conflicts.push_back(Shown(path));
    live = config;
  }

 private:
  static std::string Shown(const std::vector<std::string>& path) {
    std::string text;
    for (const std::string& name : path) text += (name[0] == '[' ? "" : ".") + name;
    return text;
  }

  std::vector<std::string> KeysOf(const std::vector<std::string>& path) const {
    if (path.empty()) return {};
    const std::string& name = path.back();
    if (name == "finalizers") return {""};
    if (name == "ownerReferences") return {"uid"};
    if (kind_.schema != nullptr) {
      std::vector<std::string> fields = path;
      for (std::string& field : fields) {
        if (field[0] == '[') field = "";
      }
      return kind_.schema->ListKeys(fields);
    }
    if (name == "conditions") return {"type"};
    for (const char* named :
         {"containers", "initContainers", "volumes", "env", "schedulingGates"}) {
      if (name == named) return {"name"};
    }
    return {};
  }

  void MergeObject(Json& live, const Json& config, const Json* earlier,
                   const std::vector<std::string>& path) {
    for (const auto& [name, value] : config.items()) {
      const Json* before = earlier == nullptr ? nullptr : api::FindMember(*earlier, name.c_str());
      std::vector<std::string> member = path;
      member.push_back(name);
      Merge(live[name], value, before, member);
    }
    if (earlier == nullptr || !earlier->is_object()) return;
    for (const auto& [name, value] : earlier->items()) {
      if (!config.contains(name) && live.contains(name)) {
        std::vector<std::string> member = path;
        member.push_back(name);
        if (GivenUp(live[name], value, member)) live.erase(name);
      }
    }
  }

  // Takes from `live` what `earlier` set; true if nothing is left of it.
  bool GivenUp(Json& live, const Json& earlier, const std::vector<std::string>& path) {
    if (live.is_object() && earlier.is_object()) {
      MergeObject(live, Json::object(), &earlier, path);
      return live.empty();
    }
    if (live.is_array() && earlier.is_array() && !KeysOf(path).empty()) {
      MergeList(live, Json::array(), &earlier, path);
      return live.empty();
    }
    return live == earlier && !OthersHave(path);
  }

  bool OthersHave(const std::vector<std::string>& path) const {
    return std::any_of(others_.begin(), others_.end(), [&](const Json* other) {
      const Json* at = other;
      for (const std::string& name : path) {
        if (name[0] == '[') return false;
        at = at == nullptr ? nullptr : api::FindMember(*at, name.c_str());
      }
      return at != nullptr;
    });
  }

  static Json KeyIn(const Json& item, const std::vector<std::string>& keys) {
    if (keys[0].empty() || !item.is_object()) return item;
    Json key = Json::object();
    for (const std::string& name : keys) {
      if (item.contains(name)) key[name] = item[name];
    }
    return key;
  }

  static Json* ItemOf(Json& list, const Json& key, const std::vector<std::string>& keys) {
    for (Json& item : list) {
      if (KeyIn(item, keys) == key) return &item;
    }
    return nullptr;
  }

  void MergeList(Json& live, const Json& config, const Json* earlier,
                 const std::vector<std::string>& path) {
    const std::vector<std::string> keys = KeysOf(path);
    Json before = earlier == nullptr ? Json::array() : *earlier;
    std::set<Json> kept;
    for (const Json& item : config) {
      const Json key = KeyIn(item, keys);
      kept.insert(key);
      Json* old = ItemOf(live, key, keys);
      if (old == nullptr) {
        live.push_back(item);
      } else if (item.is_object()) {
        std::vector<std::string> member = path;
        member.push_back("[" + api::JsonText(key) + "]");
        Merge(*old, item, ItemOf(before, key, keys), member);
      }
    }
    for (const Json& item : before) {
      const Json key = KeyIn(item, keys);
      if (kept.contains(key)) continue;
      for (auto old = live.begin(); old != live.end(); ++old) {
        if (KeyIn(*old, keys) != key) continue;
        live.erase(old);
        break;
      }
    }
  }

  const Kind& kind_;
  const std::vector<const Json*> others_;
};

}  // namespace

Json ConfigurationOf(const std::string& body) {
  Json config = api::ParseJson(body);
  if (config.is_object() && config.contains("metadata")) {
    for (const char* name : {"name", "namespace", "managedFields"}) config["metadata"].erase(name);
  }
  return config;
}

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

Refusal ApiServer::State::ApplyPatch(const Call& call, const Json& before, Json& next) {
  const Json config = ConfigurationOf(call.request.body);
  if (!config.is_object()) return BadRequest("error decoding YAML");
  const auto& managers = call.target.collection->applied[call.target.key];
  std::vector<const Json*> others;
  const Json* earlier = nullptr;
  for (const auto& [manager, applied] : managers) {
    if (manager == call.manager + "/" + call.target.subresource) {
      earlier = &applied;
    } else {
      others.push_back(&applied);
    }
  }
  next = before;
  Applying applying(call.target.kind(), others);
  applying.Merge(next, config, earlier, {});
  const auto force = call.request.query.find("force");
  if (applying.conflicts.empty() ||
      (force != call.request.query.end() && force->second == "true")) {
    return std::nullopt;
  }
  Causes causes;
  std::string all;
  for (const std::string& field : applying.conflicts) {
    causes.push_back({"FieldManagerConflict", "conflict with another manager", field});
    all += "\n- " + field;
  }
  Json details = {{"causes", Json::array()}};
  for (const Cause& cause : causes) {
    details["causes"].push_back(
        {{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  }
  return Failure(409, "Conflict", "Apply failed with conflicts:" + all, std::move(details));
}

}  // namespace weft::world

// Parts of objects that have an owner each, and what server-side apply makes of them.
#include "tests/world/fields.h"

#include <algorithm>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"

namespace weft::world {

using Json = nlohmann::json;

namespace {

using Form = Shape::Form;

const Shape kAnyShape;

const Json& MetadataSchema() {
  static const Json schema = Json::parse(R"({"type": "object", "properties": {
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    "ownerReferences": {"type": "array", "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "items": {"type": "object", "x-kubernetes-map-type": "atomic"}},
    "name": {"type": "string"}, "namespace": {"type": "string"}, "uid": {"type": "string"},
    "resourceVersion": {"type": "string"}, "generation": {"type": "integer"},
    "generateName": {"type": "string"}, "creationTimestamp": {"type": "string"},
    "deletionTimestamp": {"type": "string"}, "deletionGracePeriodSeconds": {"type": "integer"}}})");
  return schema;
}

Shape PlainShape(const Json& schema) {
  const std::string type = schema.value("type", "");
  Shape shape;
  if (type == "array") {
    const std::string list = schema.value("x-kubernetes-list-type", "atomic");
    shape.form = list == "map" ? Form::kKeyed : list == "set" ? Form::kSet : Form::kLeaf;
    shape.keys = schema.value("x-kubernetes-list-map-keys", std::vector<std::string>{});
    if (schema.contains("items")) {
      shape.element = std::make_shared<const Shape>(PlainShape(schema["items"]));
    }
  } else if (type == "object") {
    const bool atomic = schema.value("x-kubernetes-map-type", "") == "atomic";
    const bool any = schema.value("x-kubernetes-preserve-unknown-fields", false);
    const Json others = schema.value("additionalProperties", Json());
    if (schema.contains("properties")) {
      for (const auto& [name, member] : schema["properties"].items()) {
        shape.fields.emplace(name, PlainShape(member));
      }
    }
    shape.form = atomic ? Form::kLeaf : shape.fields.empty() && !any ? Form::kMap : Form::kFields;
    if (others.is_object()) shape.element = std::make_shared<const Shape>(PlainShape(others));
  } else if (!type.empty()) {
    shape.form = Form::kLeaf;
  }
  return shape;
}

const Shape& Below(const Shape& shape, const std::string& name) {
  const auto found = shape.fields.find(name);
  if (found != shape.fields.end()) return found->second;
  return shape.element ? *shape.element : kAnyShape;
}

FieldPath MemberPath(const FieldPath& path, const Shape& shape, const std::string& name) {
  FieldPath member = path;
  member.push_back((shape.fields.contains(name) ? "f" : "m") + name);
  return member;
}

std::string ElementOf(const Shape& list, const Json& item) {
  if (list.form == Form::kSet || !item.is_object()) return "v" + api::JsonText(item);
  Json key = Json::object();
  for (const std::string& name : list.keys) {
    if (item.contains(name)) key[name] = item[name];
  }
  return "k" + api::JsonText(key);
}

FieldPath ItemPath(const FieldPath& path, const std::string& element) {
  FieldPath item = path;
  item.push_back(element);
  return item;
}

bool IsObject(const Shape& shape, const Json* value) {
  if (shape.form == Form::kAny) return value != nullptr && value->is_object();
  return shape.form == Form::kFields || shape.form == Form::kMap;
}

bool IsList(const Shape& shape) { return shape.form == Form::kSet || shape.form == Form::kKeyed; }

bool IsEmpty(const Json* value) { return value == nullptr || value->empty(); }

const Json* ItemOf(const Shape& list, const Json* items, const std::string& element) {
  if (items == nullptr || !items->is_array()) return nullptr;
  for (const Json& item : *items) {
    if (ElementOf(list, item) == element) return &item;
  }
  return nullptr;
}

// The elements of both lists, those of the first one first.
std::vector<std::string> ElementsOf(const Shape& list, const Json* first, const Json* second) {
  std::vector<std::string> elements;
  for (const Json* items : {first, second}) {
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : *items) {
      std::string element = ElementOf(list, item);
      if (std::find(elements.begin(), elements.end(), element) == elements.end()) {
        elements.push_back(std::move(element));
      }
    }
  }
  return elements;
}

std::set<std::string> NamesOf(const Json* first, const Json* second) {
  std::set<std::string> names;
  for (const Json* object : {first, second}) {
    if (object == nullptr || !object->is_object()) continue;
    for (const auto& [name, value] : object->items()) names.insert(name);
  }
  return names;
}

const Json* MemberOf(const Json* object, const std::string& name) {
  return object == nullptr ? nullptr : api::FindMember(*object, name.c_str());
}

class Comparing {
 public:
  Comparison found;

  void Visit(const Shape& shape, const Json* before, const Json* after, const FieldPath& path) {
    const bool object = IsObject(shape, before != nullptr ? before : after);
    const bool parts = (object || IsList(shape)) && !(IsEmpty(before) && IsEmpty(after));
    if (!parts) {
      if (before != nullptr && after != nullptr && *before != *after) found.changed.insert(path);
    } else if (object) {
      for (const std::string& name : NamesOf(before, after)) {
        Visit(Below(shape, name), MemberOf(before, name), MemberOf(after, name),
              MemberPath(path, shape, name));
      }
    } else {
      const Shape& item = shape.element ? *shape.element : kAnyShape;
      for (const std::string& element : ElementsOf(shape, before, after)) {
        Visit(item, ItemOf(shape, before, element), ItemOf(shape, after, element),
              ItemPath(path, element));
      }
    }
    if (before == nullptr) found.added.insert(path);
    if (after == nullptr) found.removed.insert(path);
  }
};

void CollectFields(const Shape& shape, const Json& value, const FieldPath& path, FieldSet& set) {
  if (IsObject(shape, &value)) {
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
      const FieldPath below = MemberPath(path, shape, name);
      CollectFields(Below(shape, name), member, below, set);
      const bool empty = member.is_null() || (member.is_object() && member.empty());
      if (empty || !shape.fields.contains(name)) set.insert(below);
    }
  } else if (IsList(shape)) {
    const Shape& item = shape.element ? *shape.element : kAnyShape;
    for (const Json& each : value) {
      const FieldPath below = ItemPath(path, ElementOf(shape, each));
      CollectFields(item, each, below, set);
      set.insert(below);
    }
  } else {
    set.insert(path);
  }
}

// The order of a merged list: that of the configuration, where both have the items; others of the
// object stay before the items that they preceded.
Json MergedList(const Shape& list, const Json* live, const Json* config) {
  const Shape& item = list.element ? *list.element : kAnyShape;
  std::vector<std::string> ours = ElementsOf(list, live, nullptr);
  const std::vector<std::string> theirs = ElementsOf(list, config, nullptr);
  const auto in = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  std::vector<std::string> shared;
  for (const std::string& each : theirs) {
    if (in(ours, each)) shared.push_back(each);
  }
  Json merged = Json::array();
  std::set<std::string> taken;
  const auto take = [&](const std::string& element) {
    const Json* old = ItemOf(list, live, element);
    const Json* now = ItemOf(list, config, element);
    merged.push_back(now == nullptr ? *old : old == nullptr ? *now : Merged(item, *old, *now));
    taken.insert(element);
  };
  std::size_t next = 0;
  for (std::size_t i = 0, k = 0; i < ours.size() || k < theirs.size();) {
    const bool both = i < ours.size() && k < theirs.size();
    if (both && ours[i] == theirs[k]) {
      take(theirs[k]);
      ++i, ++k, ++next;
    } else if (both && in(theirs, ours[i]) && next < shared.size() && shared[next] != ours[i]) {
      ++i;
    } else if (i < ours.size() && !in(theirs, ours[i])) {
      take(ours[i++]);
    } else {
      if (i < ours.size() && taken.contains(ours[i])) ++i;
      if (k == theirs.size()) continue;
      if (next < shared.size() && shared[next] == theirs[k]) ++next;
      take(theirs[k++]);
    }
  }
  return merged;
}

bool HasBelow(const FieldSet& parts, const FieldPath& path) {
  const auto after = parts.upper_bound(path);
  return after != parts.end() && after->size() > path.size() &&
         std::equal(path.begin(), path.end(), after->begin());
}

// Null if nothing is left.
Json Stripped(const Shape& shape, const Json& value, const FieldPath& path, const FieldSet& parts) {
  if (IsObject(shape, &value) && value.is_object()) {
    Json kept = Json::object();
    for (const auto& [name, member] : value.items()) {
      const FieldPath below = MemberPath(path, shape, name);
      if (parts.contains(below)) continue;
      kept[name] =
          HasBelow(parts, below) ? Stripped(Below(shape, name), member, below, parts) : member;
    }
    return kept.empty() ? Json() : kept;
  }
  if (IsList(shape) && value.is_array()) {
    const Shape& item = shape.element ? *shape.element : kAnyShape;
    Json kept = Json::array();
    for (const Json& each : value) {
      const FieldPath below = ItemPath(path, ElementOf(shape, each));
      if (parts.contains(below)) continue;
      kept.push_back(HasBelow(parts, below) ? Stripped(item, each, below, parts) : each);
    }
    return kept.empty() ? Json() : kept;
  }
  return shape.form == Form::kLeaf || shape.form == Form::kAny ? value : Json();
}

// With the declared fields that the parts are in, which are not listed otherwise.
FieldSet WithParents(const FieldSet& parts) {
  FieldSet all = parts;
  for (FieldPath path : parts) {
    for (path.pop_back(); !path.empty(); path.pop_back()) {
      if (path.back()[0] == 'f') all.insert(path);
    }
  }
  return all;
}

FieldSet Minus(const FieldSet& all, const FieldSet& some) {
  FieldSet rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

FieldSet Common(const FieldSet& a, const FieldSet& b) {
  FieldSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

// Parts that the API server itself writes belong to nobody.
void DropUnowned(FieldSet& set) {
  for (const FieldPath& path :
       std::initializer_list<FieldPath>{{}, {"fapiVersion"}, {"fkind"}, {"fmetadata"}}) {
    set.erase(path);
  }
  for (const char* name :
       {"fname", "fnamespace", "fcreationTimestamp", "fuid", "fgeneration", "fresourceVersion"}) {
    set.erase({"fmetadata", name});
  }
}

// A field is removed if the manager applied it the last time, does not apply it now, and nobody
// else owns it.
Json Pruned(const Shape& shape, const Json& merged, const FieldSet& last, const Owners& owners) {
  if (last.empty()) return merged;
  const FieldSet last_all = WithParents(last);
  const FieldSet merged_set = WithParents(FieldsOf(shape, merged));
  FieldSet owned;
  for (const auto& [manager, set] : owners) owned.insert(set.begin(), set.end());
  FieldSet kept = WithParents(FieldsOf(shape, Without(shape, merged, last_all)));
  const FieldSet owned_all = WithParents(owned);
  kept.insert(owned_all.begin(), owned_all.end());
  const Json added_back = Without(shape, merged, Minus(merged_set, kept));
  const FieldSet pruned_set = WithParents(FieldsOf(shape, added_back));
  return Without(shape, merged, Common(Minus(merged_set, pruned_set), last_all));
}

// Takes from all others what this manager has written; the parts that they lose by that.
FieldSet TakeFromOthers(const Comparison& change, const std::string& manager, Owners& owners) {
  FieldSet written = change.added, lost;
  written.insert(change.changed.begin(), change.changed.end());
  for (auto each = owners.begin(); each != owners.end();) {
    if (each->first != manager) {
      lost.merge(Common(each->second, written));
      each->second = Minus(Minus(each->second, written), change.removed);
    }
    each = each->second.empty() ? owners.erase(each) : std::next(each);
  }
  return lost;
}

}  // namespace

Shape ShapeOf(const Json& openapi) {
  Shape shape = PlainShape(openapi);
  shape.form = Form::kFields;
  shape.fields["metadata"] = PlainShape(MetadataSchema());
  for (const char* name : {"apiVersion", "kind"}) shape.fields[name].form = Form::kLeaf;
  return shape;
}

Shape ConfigMapShape() {
  return ShapeOf(Json::parse(R"({"type": "object", "properties": {
    "immutable": {"type": "boolean"},
    "data": {"type": "object", "additionalProperties": {"type": "string"}},
    "binaryData": {"type": "object", "additionalProperties": {"type": "string"}}}})"));
}

std::string TextOf(const FieldPath& path) {
  std::string text;
  for (const std::string& element : path) {
    const std::string rest = element.substr(1);
    if (element[0] == 'f' || element[0] == 'm') {
      text += "." + rest;
    } else if (element[0] == 'v') {
      text += "[=" + rest + "]";
    } else {
      std::string keys;
      for (const auto& [name, value] : api::ParseJson(rest).items()) {
        keys += (keys.empty() ? "" : ",") + name + "=" + api::JsonText(value);
      }
      text += "[" + keys + "]";
    }
  }
  return text;
}

FieldSet FieldsOf(const Shape& shape, const Json& config) {
  FieldSet set;
  CollectFields(shape, config, {}, set);
  return set;
}

Comparison Compare(const Shape& shape, const Json& before, const Json& after) {
  Comparing comparing;
  comparing.Visit(shape, &before, &after, {});
  return std::move(comparing.found);
}

Json Merged(const Shape& shape, const Json& live, const Json& config) {
  const bool nothing = IsEmpty(&live) && IsEmpty(&config);
  if (IsObject(shape, &config) && live.is_object() && !nothing) {
    Json merged = live;
    for (const auto& [name, value] : config.items()) {
      const Json* old = api::FindMember(live, name.c_str());
      merged[name] = old == nullptr ? value : Merged(Below(shape, name), *old, value);
    }
    return merged;
  }
  if (IsList(shape) && !nothing) return MergedList(shape, &live, &config);
  return config;
}

Json Without(const Shape& shape, const Json& object, const FieldSet& parts) {
  return Stripped(shape, object, {}, parts);
}

Applied Apply(const Shape& shape, const Json& live, const Json& config, const Owners& owners,
              const std::string& manager) {
  Applied applied{{}, owners, {}};
  const auto own = owners.find(manager);
  const FieldSet last = own == owners.end() ? FieldSet() : own->second;
  applied.owners[manager] = FieldsOf(shape, config);
  applied.object = Pruned(shape, Merged(shape, live, config), last, applied.owners);
  applied.conflicts = TakeFromOthers(Compare(shape, live, applied.object), manager, applied.owners);
  FieldSet& set = applied.owners[manager];
  DropUnowned(set);
  if (set.empty()) applied.owners.erase(manager);
  return applied;
}

void TakeUpdate(const Shape& shape, const Json& before, const Json& after,
                const std::string& manager, Owners& owners) {
  const Comparison change = Compare(shape, before, after);
  TakeFromOthers(change, manager, owners);
  FieldSet own = Minus(owners[manager], change.removed);
  own.insert(change.added.begin(), change.added.end());
  own.insert(change.changed.begin(), change.changed.end());
  DropUnowned(own);
  if (own.empty()) {
    owners.erase(manager);
  } else {
    owners[manager] = std::move(own);
  }
}

}  // namespace weft::world

#include "tests/world/actor.h"

#include <charconv>

namespace weft::world {
namespace {

const Json kNull;

std::int64_t AsNumber(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return 0;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string NameOf(const kube::Resource& resource) {
  std::string name(resource.plural);
  if (!resource.group.empty()) name += "." + std::string(resource.group);
  return name;
}

int Actor::Do(const kube::Request& request) {
  last_ = server_.Handle(request, user_);
  return last_.status;
}

int Actor::Create(const kube::Resource& resource, const Json& object) {
  return Do(kube::CreateRequest(resource, object, {.field_manager = user_}));
}

int Actor::Patch(const kube::Resource& resource, const api::ObjectKey& key, const Json& merge,
                 std::string_view subresource) {
  return Do(kube::PatchRequest(resource, key, {kube::PatchType::kMerge, merge},
                               {.field_manager = user_, .subresource = subresource}));
}

int Actor::Replace(const kube::Resource& resource, const Json& object) {
  return Do(kube::ReplaceRequest(resource, object, {.field_manager = user_}));
}

int Actor::Delete(const kube::Resource& resource, const api::ObjectKey& key,
                  const kube::Deletion& how) {
  return Do(kube::DeleteRequest(resource, key, how));
}

int Actor::Bind(const api::ObjectKey& pod, const std::string& uid, const std::string& node) {
  kube::Request request;
  request.method = kube::Method::kPost;
  request.path = kube::PathOf(kube::kPods, pod, "binding");
  request.content_type = "application/json";
  const Json body = {{"apiVersion", "v1"},
                     {"kind", "Binding"},
                     {"metadata", {{"name", pod.name}, {"namespace", pod.space}, {"uid", uid}}},
                     {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  request.body = body.dump();
  return Do(request);
}

int Actor::Evict(const api::ObjectKey& pod) { return Do(kube::EvictRequest(pod, {})); }

std::shared_ptr<const Json> Actor::Find(const kube::Resource& resource,
                                        const api::ObjectKey& key) const {
  return server_.Find(NameOf(resource), key);
}

const Json& At(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* name : path) {
    if (!at->is_object()) return kNull;
    const auto found = at->find(name);
    if (found == at->end()) return kNull;
    at = &*found;
  }
  return *at;
}

std::string TextAt(const Json& object, std::initializer_list<const char*> path) {
  const Json& value = At(object, path);
  return value.is_string() ? value.get<std::string>() : "";
}

std::int64_t NumberAt(const Json& object, std::initializer_list<const char*> path) {
  return AsNumber(At(object, path));
}

api::ObjectKey KeyOf(const Json& object) {
  return {TextAt(object, {"metadata", "namespace"}), TextAt(object, {"metadata", "name"})};
}

std::int64_t GenerationOf(const Json& object) {
  return NumberAt(object, {"metadata", "generation"});
}

std::string UidOf(const Json& object) { return TextAt(object, {"metadata", "uid"}); }

std::string LabelOf(const Json& object, const char* name) {
  return TextAt(object, {"metadata", "labels", name});
}

std::string AnnotationOf(const Json& object, const char* name) {
  return TextAt(object, {"metadata", "annotations", name});
}

const Json& ConditionOf(const Json& object, std::string_view type) {
  const Json& conditions = At(object, {"status", "conditions"});
  if (!conditions.is_array()) return kNull;
  for (const Json& one : conditions) {
    if (TextAt(one, {"type"}) == type) return one;
  }
  return kNull;
}

bool IsTrue(const Json& object, std::string_view condition) {
  return TextAt(ConditionOf(object, condition), {"status"}) == "True";
}

bool HasEnded(const Json& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool Runs(const Json& pod) {
  return TextAt(pod, {"status", "phase"}) == "Running" && !IsDeleting(pod);
}

std::int64_t GpusOf(const Json& pod) {
  std::int64_t sum = 0;
  for (const Json& container : At(pod, {"spec", "containers"})) {
    const std::int64_t limit = NumberAt(container, {"resources", "limits", kGpu});
    sum += limit != 0 ? limit : NumberAt(container, {"resources", "requests", kGpu});
  }
  return sum;
}

}  // namespace weft::world

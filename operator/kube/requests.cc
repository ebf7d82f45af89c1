#include "operator/kube/requests.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

Request WriteRequest(Method method, std::string path, const Json& body, const Write& write) {
  Request request;
  request.method = method;
  request.path = std::move(path);
  request.query["fieldManager"] = write.field_manager;
  if (write.dry_run) request.query["dryRun"] = "All";
  if (write.strict) request.query["fieldValidation"] = "Strict";
  request.content_type = "application/json";
  request.body = api::JsonText(body);
  return request;
}

Json OptionsOf(const Deletion& how) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!how.propagation.empty()) options["propagationPolicy"] = how.propagation;
  if (how.grace_seconds) options["gracePeriodSeconds"] = *how.grace_seconds;
  const bool names_uid = !how.only.uid.empty() && !Seeded(Bug::kDeleteWithoutUid);
  if (names_uid) options["preconditions"]["uid"] = how.only.uid;
  if (!how.only.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = how.only.resource_version;
  }
  return options;
}

Request Deleting(std::string path, const Deletion& how) {
  Request request;
  request.method = Method::kDelete;
  request.path = std::move(path);
  request.content_type = "application/json";
  request.body = api::JsonText(OptionsOf(how));
  return request;
}

const char* ContentTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";  // JSON is valid YAML
  }
  return "";
}

}  // namespace

Request GetRequest(const Resource& resource, const api::ObjectKey& key) {
  Request request;
  request.path = PathOf(resource, key);
  return request;
}

Request CreateRequest(const Resource& resource, const Json& object, const Write& write) {
  const api::ObjectKey collection{api::KeyOf(object).space, ""};
  return WriteRequest(Method::kPost, PathOf(resource, collection), object, write);
}

Request ReplaceRequest(const Resource& resource, const Json& object, const Write& write) {
  return WriteRequest(Method::kPut, PathOf(resource, api::KeyOf(object), write.subresource), object,
                      write);
}

Request PatchRequest(const Resource& resource, const api::ObjectKey& key, const Patch& patch,
                     const Write& write) {
  WEFT_CHECK(!key.name.empty());
  Request request =
      WriteRequest(Method::kPatch, PathOf(resource, key, write.subresource), patch.body, write);
  request.content_type = ContentTypeOf(patch.type);
  if (patch.type == PatchType::kApply && write.force) request.query["force"] = "true";
  return request;
}

Request DeleteRequest(const Resource& resource, const api::ObjectKey& key, const Deletion& how) {
  WEFT_CHECK(!key.name.empty());  // without a name, the path means all objects
  return Deleting(PathOf(resource, key), how);
}

Request DeleteCollectionRequest(const Resource& resource, const std::string& space,
                                const std::string& label_selector, const Deletion& how) {
  WEFT_CHECK(!label_selector.empty() && (!resource.namespaced || !space.empty()));
  Request request = Deleting(PathOf(resource, {space, ""}), how);
  request.query["labelSelector"] = label_selector;
  return request;
}

Request EvictRequest(const api::ObjectKey& pod, const Deletion& how) {
  Request request;
  request.method = Method::kPost;
  request.path = PathOf(kPods, pod, "eviction");
  request.content_type = "application/json";
  request.body = api::JsonText(Json{{"apiVersion", "policy/v1"},
                                    {"kind", "Eviction"},
                                    {"metadata", {{"name", pod.name}, {"namespace", pod.space}}},
                                    {"deleteOptions", OptionsOf(how)}});
  return request;
}

}  // namespace weft::kube

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "operator/kube/requests.h"
#include "tests/world/api_server.h"

namespace weft::world {

// Somebody who talks to the API server without a network in between: a model of another controller,
// or a person.
class Actor {
 public:
  Actor(ApiServer& server, std::string user) : server_(server), user_(std::move(user)) {}

  // The answer's HTTP status.
  int Create(const kube::Resource& resource, const Json& object);
  int Patch(const kube::Resource& resource, const api::ObjectKey& key, const Json& merge,
            std::string_view subresource = "");
  int Replace(const kube::Resource& resource, const Json& object);
  int Delete(const kube::Resource& resource, const api::ObjectKey& key,
             const kube::Deletion& how = {});
  int Bind(const api::ObjectKey& pod, const std::string& uid, const std::string& node);
  int Evict(const api::ObjectKey& pod);
  // As the API server has it now, or null.
  std::shared_ptr<const Json> Find(const kube::Resource& resource, const api::ObjectKey& key) const;
  ApiServer& server() const { return server_; }
  const kube::Response& last() const { return last_; }

 private:
  int Do(const kube::Request& request);
  ApiServer& server_;
  const std::string user_;
  kube::Response last_;
};

// "pods", "placements.weft.dev".
std::string NameOf(const kube::Resource& resource);

// Parts of an object; defaults where they are missing.
api::ObjectKey KeyOf(const Json& object);
std::string UidOf(const Json& object);
std::int64_t GenerationOf(const Json& object);
std::string LabelOf(const Json& object, const char* name);
std::string AnnotationOf(const Json& object, const char* name);
// The value at a path of fields ("spec", "nodeName"), or a null.
const Json& At(const Json& object, std::initializer_list<const char*> path);
std::string TextAt(const Json& object, std::initializer_list<const char*> path);
std::int64_t NumberAt(const Json& object, std::initializer_list<const char*> path);
// The condition of that type, or a null.
const Json& ConditionOf(const Json& object, std::string_view type);
bool IsTrue(const Json& object, std::string_view condition);
inline constexpr const char* kGpu = "nvidia.com/gpu";
// Of a pod.
bool HasEnded(const Json& pod);
bool Runs(const Json& pod);
std::int64_t GpusOf(const Json& pod);

}  // namespace weft::world

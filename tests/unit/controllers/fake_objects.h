#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "operator/base/timestamp.h"
#include "operator/controllers/api_writer.h"

namespace weft::controllers {

inline const char* KindWord(Kind kind) {
  switch (kind) {
    case Kind::kPod:
      return "Pod";
    case Kind::kService:
      return "Service";
    case Kind::kConfigMap:
      return "ConfigMap";
    case Kind::kSecret:
      return "Secret";
    case Kind::kComputeDomain:
      return "ComputeDomain";
    case Kind::kClaimTemplate:
      return "ResourceClaimTemplate";
    case Kind::kPodGroup:
      return "PodGroup";
    case Kind::kPlacement:
      return "Placement";
    case Kind::kTrainingJob:
      return "TrainingJob";
    case Kind::kFabric:
      return "Fabric";
    case Kind::kResourceQuota:
      return "ResourceQuota";
    case Kind::kWorkload:
      return "Workload";
    case Kind::kAdmissionCheck:
      return "AdmissionCheck";
    case Kind::kWorkloadPriorityClass:
      return "WorkloadPriorityClass";
  }
  return "";
}

// What an API server holds: uid, generation, resourceVersion, finalizers, graceful deletion of
// bound pods and the garbage collector.
class FakeObjects {
 public:
  using Json = nlohmann::json;
  using Key = std::tuple<Kind, std::string, std::string>;  // kind, namespace, name

  explicit FakeObjects(std::function<UnixSeconds()> now) : now_(std::move(now)) {}

  // What was carried out: "create Pod", "delete Placement"; of status and patches no count.
  std::map<std::string, int> counts;
  // Told of each object that is another, or gone (null).
  std::function<void(Kind, const api::ObjectKey&, const Json&)> watch;

  const std::map<Key, Json>& objects() const { return objects_; }
  std::size_t CountOf(Kind kind) const {
    std::size_t count = 0;
    for (const auto& [key, object] : objects_) count += std::get<0>(key) == kind ? 1 : 0;
    return count;
  }
  const Json& At(Kind kind, const std::string& name) const {
    return objects_.at({kind, "ns", name});
  }

  // What users, kube-scheduler, kubelets and controllers of others do; never fails.
  void Apply(Kind kind, Json object) { Store(kind, std::move(object)); }
  void Edit(Kind kind, const std::string& name, const std::function<void(Json&)>& edit) {
    const Key key{kind, "ns", name};
    Json object = objects_.at(key);
    edit(object);
    Change(key, std::move(object));
  }
  void EndDeletion(const std::string& pod) {
    Erase({Kind::kPod, "ns", pod});
    CollectGarbage();
  }
  void DeleteByUser(Kind kind, const std::string& name) { DeleteNow({kind, "ns", name}); }

 protected:
  static Key KeyOf(Kind kind, const Json& object) {
    const Json& meta = object.at("metadata");
    return {kind, meta.value("namespace", ""), meta.at("name").get<std::string>()};
  }

  const Json& Store(Kind kind, Json object) {
    const Key key = KeyOf(kind, object);
    Json& meta = object["metadata"];
    meta["uid"] = std::string(KindWord(kind)) + "-" + std::to_string(++uids_);
    meta["generation"] = 1;
    meta["creationTimestamp"] = FormatTime(now_());
    if (kind == Kind::kPlacement || kind == Kind::kTrainingJob) object.erase("status");
    if (kind == Kind::kPod) object["status"] = {{"phase", "Pending"}};
    return Put(key, std::move(object));
  }

  // Nothing where it changes nothing, as an API server.
  Json Change(const Key& key, Json object) {
    Json& old = objects_.at(key);
    if (old == object) return old;
    if (old.value("spec", Json()) != object.value("spec", Json())) {
      object["metadata"]["generation"] = old["metadata"].value("generation", 1) + 1;
    }
    const Json stored = Put(key, std::move(object));
    const Json& meta = stored["metadata"];
    if (meta.contains("deletionTimestamp") && meta.value("finalizers", Json::array()).empty() &&
        std::get<0>(key) == Kind::kTrainingJob) {
      Erase(key);
      CollectGarbage();
    }
    return stored;
  }

  const Json& Put(const Key& key, Json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    Json& place = objects_[key];
    place = std::move(object);
    if (watch) watch(std::get<0>(key), {std::get<1>(key), std::get<2>(key)}, place);
    return place;
  }

  void Erase(const Key& key) {
    if (objects_.erase(key) == 0) return;
    if (watch) watch(std::get<0>(key), {std::get<1>(key), std::get<2>(key)}, nullptr);
  }

  void DeleteNow(const Key& key) {
    Json object = objects_.at(key);
    Json& meta = object["metadata"];
    if (meta.contains("deletionTimestamp")) return;
    ++counts[std::string("delete ") + KindWord(std::get<0>(key))];
    const bool held = !meta.value("finalizers", Json::array()).empty();
    const bool runs = std::get<0>(key) == Kind::kPod && object["spec"].contains("nodeName") &&
                      object["status"]["phase"] != "Succeeded" &&
                      object["status"]["phase"] != "Failed";
    if (held || runs) {
      meta["deletionTimestamp"] = FormatTime(now_() + 30);
      Put(key, std::move(object));
    } else {
      Erase(key);
      CollectGarbage();
    }
  }

  // What has owners, and none that is there.
  void CollectGarbage() {
    for (bool again = true; again;) {
      again = false;
      std::map<std::string, bool> uids;
      for (const auto& [key, object] : objects_) uids[object["metadata"].value("uid", "")] = true;
      for (const auto& [key, object] : objects_) {
        const Json owners = object["metadata"].value("ownerReferences", Json::array());
        bool orphan = !owners.empty();
        for (const Json& owner : owners) orphan = orphan && !uids.contains(owner.value("uid", ""));
        if (!orphan) continue;
        Erase(Key(key));
        again = true;
        break;
      }
    }
  }

  std::map<Key, Json> objects_;

 private:
  const std::function<UnixSeconds()> now_;
  int version_ = 0, uids_ = 0;
};

}  // namespace weft::controllers

#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "operator/controllers/api_writer.h"
#include "tests/unit/controllers/fake_objects.h"

namespace weft::controllers {

// An API server of the kinds that the operator writes: resourceVersion as compare-and-swap, status
// apart from spec, dry runs. It answers one request with an error: the n-th, before it is carried
// out or after (the reply is lost). Thread-safety  all calls may run at once.
class FakeApi final : public FakeObjects, public ApiWriter {
 public:
  enum class Fault { kNone, kNotCarriedOut, kReplyLost };

  using FakeObjects::FakeObjects;

  // The request that fails, from 1; it fails once.
  std::size_t fail_at = 0;
  Fault fault = Fault::kNone;
  // Why admission refuses an object, dry runs included.
  std::function<std::optional<std::string>(Kind, const Json&)> refuse = [](Kind, const Json&) {
    return std::nullopt;
  };
  // What admission changes in a patched object.
  std::function<void(Kind, Json&)> admit = [](Kind, Json&) {};
  std::set<Kind> not_installed;
  std::set<Kind> webhook_down;  // of these kinds nothing can be created, nor tried, nor its status
  std::size_t requests = 0;
  std::map<Kind, int> deletes;  // requests

  Result<Json> Create(Kind kind, const Json& object, bool dry_run) override {
    return Request<Json>([&]() -> Result<Json> {
      if (not_installed.contains(kind)) return Error{ErrorKind::kNotFound, "not found"};
      if (webhook_down.contains(kind)) return Error{ErrorKind::kTransient, "500: no webhook"};
      if (const auto why = refuse(kind, object)) return Error{ErrorKind::kInvalid, *why};
      if (objects_.contains(KeyOf(kind, object))) return Error{ErrorKind::kConflict, "exists"};
      if (dry_run) return object;
      ++counts[std::string("create ") + KindWord(kind)];
      return Store(kind, object);
    });
  }
  Result<Json> Get(const Target& target) override {
    return Request<Json>([&]() -> Result<Json> {
      if (target.key.name.empty()) return List(target.kind, target.key.space);
      const auto found = objects_.find(KeyOf(target));
      if (found == objects_.end()) return Error{ErrorKind::kNotFound, "not found"};
      return found->second;
    });
  }
  Result<Json> Patch(const Target& target, const Json& patch) override {
    return Request<Json>([&] { return Merge(target, patch, false); });
  }
  Result<Json> PatchStatus(const Target& target, const Json& patch) override {
    return Request<Json>([&]() -> Result<Json> {
      if (webhook_down.contains(target.kind))
        return Error{ErrorKind::kTransient, "500: no webhook"};
      return Merge(target, patch, true);
    });
  }
  Result<Json> PatchExactly(const Target& target, const Json& operations) override {
    return Request<Json>([&]() -> Result<Json> {
      if (const auto wrong = Check(target)) return *wrong;
      return Change(KeyOf(target), objects_.at(KeyOf(target)).patch(operations));
    });
  }
  Status Delete(const Target& target) override {
    return Request<void>([&]() -> Status {
      ++deletes[target.kind];
      const auto wrong = Check(target);
      if (wrong && wrong->kind == ErrorKind::kNotFound) return {};
      if (wrong) return *wrong;
      DeleteNow(KeyOf(target));
      return {};
    });
  }
  Status Evict(const Target& target) override { return Delete(target); }

 private:
  using FakeObjects::KeyOf;
  static Key KeyOf(const Target& target) {
    return {target.kind, target.key.space, target.key.name};
  }
  template <typename T, typename Call>
  auto Request(const Call& call) -> decltype(call()) {
    const std::lock_guard lock(mutex_);
    const bool fails = ++requests == fail_at;
    if (fails && fault == Fault::kNotCarriedOut) return Error{ErrorKind::kTransient, "no answer"};
    auto answer = call();
    if (fails && fault == Fault::kReplyLost) return Error{ErrorKind::kTransient, "reply lost"};
    return answer;
  }

  Json List(Kind kind, const std::string& space) const {
    Json items = Json::array();
    for (const auto& [key, object] : objects_) {
      if (std::get<0>(key) == kind && std::get<1>(key) == space) items.push_back(object);
    }
    return {{"items", items}};
  }

  std::optional<Error> Check(const Target& target) const {
    const auto found = objects_.find(KeyOf(target));
    if (found == objects_.end()) return Error{ErrorKind::kNotFound, "not found"};
    const Json& meta = found->second["metadata"];
    const bool another = !target.uid.empty() && target.uid != meta.value("uid", "");
    const bool changed = !target.resource_version.empty() &&
                         target.resource_version != meta.value("resourceVersion", "");
    if (another || changed) return Error{ErrorKind::kConflict, "changed"};
    return std::nullopt;
  }

  Result<Json> Merge(const Target& target, Json patch, bool of_status) {
    if (auto wrong = Check(target)) return *wrong;
    const bool apart = target.kind != Kind::kPod;
    Json object = objects_.at(KeyOf(target));
    if (patch.contains("metadata")) patch["metadata"].erase("resourceVersion");
    if (of_status) {
      object["status"].merge_patch(patch.value("status", Json::object()));
    } else {
      if (apart) patch.erase("status");
      object.merge_patch(patch);
      admit(target.kind, object);
    }
    return Change(KeyOf(target), std::move(object));
  }

  std::mutex mutex_;
};

}  // namespace weft::controllers

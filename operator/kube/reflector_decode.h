#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "operator/kube/reflector.h"

namespace weft::kube {

// Like ObjectSink, for one kind decoded to its plain struct (api/pod.h, ...).
template <typename T>
class TypedSink {
 public:
  virtual ~TypedSink() = default;
  virtual void OnReplaceBegin() = 0;
  virtual void OnUpsert(const api::ObjectKey& key, T object) = 0;
  // The object has a new state that cannot be decoded. `object` has at least its metadata, so that
  // its owner can be notified.
  virtual void OnUndecodable(const api::ObjectKey& key, const nlohmann::json& object,
                             const std::string& why) = 0;
  virtual void OnDelete(const api::Deletion& deletion) = 0;
  virtual void OnSynced(const std::string& resource_version) = 0;
  virtual void OnAbsent() {}
  virtual std::vector<api::ObjectKey> HeldUpTo(const std::string& /*resource_version*/) {
    return {};
  }
};

// Decodes objects for a typed sink: Transport -> Reflector -> DecodingSink -> TypedSink.
template <typename T>
class DecodingSink final : public ObjectSink {
 public:
  using Decode = std::function<Result<T>(const nlohmann::json&, const api::Place&)>;
  // Messages about objects that cannot be decoded start with `place`. `sink` must outlive this.
  DecodingSink(std::string place, Decode decode, TypedSink<T>& sink)
      : place_(std::move(place)), decode_(std::move(decode)), sink_(sink) {}

  void OnReplaceBegin() override { sink_.OnReplaceBegin(); }
  void OnUpsert(const ServedObject& object) override {
    if (!object.unreadable.empty()) return Refuse(object, object.unreadable);
    Result<T> decoded = Decoded(object);
    if (!decoded) return Refuse(object, decoded.error().message);
    sink_.OnUpsert(object.key, *std::move(decoded));
  }
  void OnDelete(const api::Deletion& deletion) override { sink_.OnDelete(deletion); }
  void OnSynced(const std::string& resource_version) override { sink_.OnSynced(resource_version); }
  void OnAbsent() override { sink_.OnAbsent(); }
  std::vector<api::ObjectKey> HeldUpTo(const std::string& resource_version) override {
    return sink_.HeldUpTo(resource_version);
  }

 private:
  // One unusual object must not end the process.
  Result<T> Decoded(const ServedObject& object) {
    try {
      return decode_(object.json, place_);
    } catch (const std::exception& bug) {
      return Error{ErrorKind::kInvalid, bug.what()};
    }
  }
  void Refuse(const ServedObject& object, const std::string& why) {
    sink_.OnUndecodable(object.key, object.json, why);
  }

  std::string place_;
  Decode decode_;
  TypedSink<T>& sink_;
};

}  // namespace weft::kube

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "operator/controllers/log.h"
#include "operator/controllers/store.h"
#include "operator/kube/reflector_decode.h"

namespace weft::controllers {

// What messages call objects that a watch brought.
inline constexpr const char* kServedPlace = "API server";

// Puts one kind into the store. What cannot be decoded is taken out of it, and said; of a
// TrainingJob or a Fabric its user is told by condition.
template <typename T>
class StoreSink final : public kube::TypedSink<T> {
 public:
  using Remove = std::function<void(const api::ObjectKey&)>;
  StoreSink(std::string resource, Store& store, Log& log, Remove remove)
      : resource_(std::move(resource)), store_(store), log_(log), remove_(std::move(remove)) {}

  void OnReplaceBegin() override {}
  void OnUpsert(const api::ObjectKey&, T object) override { store_.Put(std::move(object)); }
  void OnDelete(const api::ObjectKey& key) override { remove_(key); }
  void OnSynced(const std::string& version) override {
    log_.Debug("listed", {{"resource", resource_}, {"version", version}});
  }
  std::vector<api::ObjectKey> HeldUpTo(const std::string& version) override {
    return store_.HeldUpTo<T>(version);
  }
  void OnUndecodable(const api::ObjectKey& key, const nlohmann::json& metadata,
                     const std::string& why) override {
    log_.Warning("object not understood", {{"object", api::Show(key)}, {"reason", why}});
    // In its own status the object needs no name.
    const std::string place = api::Show(key) + ": ";
    const std::size_t named = why.find(place);
    const Undecodable object{key, metadata.value("uid", ""),
                             metadata.value("generation", std::int64_t{0}),
                             named == why.npos ? why : why.substr(named + place.size())};
    if constexpr (std::is_same_v<T, api::TrainingJob>) {
      store_.PutUndecodable(object);
    } else if constexpr (std::is_same_v<T, api::Fabric>) {
      store_.PutUndecodableFabric(object);
    } else {
      remove_(key);
    }
  }

 private:
  const std::string resource_;
  Store& store_;
  Log& log_;
  Remove remove_;
};

}  // namespace weft::controllers

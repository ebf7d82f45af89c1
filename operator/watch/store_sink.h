#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "operator/kube/reflector_decode.h"
#include "operator/watch/store.h"
#include "operator/watch/watch_hooks.h"

namespace weft::watch {

// The place that messages name for objects of a watch.
inline constexpr const char* kServedPlace = "API server";

// How one kind is decoded and put into the store.
template <typename T>
struct KindInStore {
  using Decode = typename kube::DecodingSink<T>::Decode;
  Decode decode;
  // Decodes the parts of an unreadable object that are stored with `unreadable` set; null: its last
  // readable state stays.
  Decode decode_head;
};

// Puts the objects of one kind into the store.
template <typename T>
class StoreSink final : public kube::TypedSink<T> {
 public:
  // `store` and `hooks` must outlive the sink.
  StoreSink(std::string resource, KindInStore<T> kind, Store& store, const WatchHooks& hooks)
      : resource_(std::move(resource)), kind_(std::move(kind)), store_(store), hooks_(hooks) {}

  const typename KindInStore<T>::Decode& decode() const { return kind_.decode; }

  void OnReplaceBegin() override {}
  void OnUpsert(const api::ObjectKey& key, T object) override {
    if constexpr (requires { object.unreadable; }) {
      if (!object.unreadable.empty()) hooks_.on_unreadable(resource_, key, object.unreadable);
    }
    store_.Put(std::move(object));
  }
  void OnDelete(const api::Deletion& deletion) override { store_.Remove<T>(deletion); }
  void OnSynced(const std::string& version) override {
    store_.Listed<T>();
    hooks_.on_listed(resource_, version);
  }
  void OnAbsent() override { store_.Listed<T>(false); }
  std::vector<api::ObjectKey> HeldUpTo(const std::string& version) override {
    return store_.HeldUpTo<T>(version);
  }
  void OnUndecodable(const api::ObjectKey& key, const nlohmann::json& object,
                     const std::string& why) override {
    if constexpr (requires(T head) { head.unreadable; }) {
      if (Result<T> head = kind_.decode_head(object, kServedPlace)) {
        // A message in the object's own status need not name the object.
        const std::string place = api::Show(key) + ": ";
        const std::size_t named = why.find(place);
        head->unreadable = named == why.npos ? why : why.substr(named + place.size());
        return OnUpsert(key, *std::move(head));
      }
    }
    hooks_.on_unreadable(resource_, key, why);
  }

 private:
  const std::string resource_;  // plural of the kind
  const KindInStore<T> kind_;
  Store& store_;
  const WatchHooks& hooks_;
};

}  // namespace weft::watch

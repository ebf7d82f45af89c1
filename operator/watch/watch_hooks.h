#pragma once

#include <functional>
#include <string>

#include "operator/api/meta.h"
#include "operator/base/units.h"

namespace weft::watch {

// Callbacks for logs and metrics, called in the threads of the watches; by default they do nothing.
// `resource` is the plural of a kind.
struct WatchHooks {
  using OfResource = std::function<void(const std::string& resource, const std::string& what)>;
  OfResource on_listed = [](const auto&, const auto&) {};   // what: the version of the list
  OfResource on_failure = [](const auto&, const auto&) {};  // what: a sentence
  // Synced, KueueAnswered or KueueSynced of ClusterWatch may have another answer now.
  std::function<void()> on_answered = [] {};
  // A stream starts again after a failure.
  std::function<void(const std::string& resource)> on_restart = [](const auto&) {};
  std::function<void(const std::string& resource, const api::ObjectKey&, const std::string& why)>
      on_unreadable = [](const auto&, const auto&, const auto&) {};
  // The time from the arrival of a piece of a stream until the store has taken it.
  std::function<void(Seconds lag)> on_lag = [](Seconds) {};
};

}  // namespace weft::watch

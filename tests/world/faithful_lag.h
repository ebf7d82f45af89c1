#pragma once

#include <cstdint>
#include <string>

#include "operator/kube/transport.h"

namespace weft::world {

// The admission of kube-apiserver reads namespaces and quotas from caches that lag a few
// milliseconds behind its own writes: what it answers meanwhile depends on the machine. This waits
// until it has seen them.
class Lag {
 public:
  // In a namespace of its own, "faithful-lag", which is made here.
  explicit Lag(kube::Transport& real);

  // After this request, which was accepted.
  void Await(const kube::Request& request);
  static constexpr const char* kSpace = "faithful-lag";

 private:
  // The status of a creation in a dry run.
  int Try(const std::string& space);
  void AwaitQuotas();

  kube::Transport& real_;
  bool full_ = true;  // whether the quota in kSpace allows nothing more
};

}  // namespace weft::world

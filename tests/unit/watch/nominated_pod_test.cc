#include <gtest/gtest.h>

#include "operator/watch/store.h"

namespace weft::watch {
namespace {

// kube-scheduler keeps room for it: jobs may get that once it is gone.
TEST(StoreOfNominatedPods, TellsPlannersWhenOneComesAndWhenItGoes) {
  int told = 0;
  Store store([] { return UnixSeconds{1'000}; });
  store.SetHooks({.on_job = [](const api::ObjectKey&) {},
                  .on_placement = [](const api::ObjectKey&) {},
                  .on_capacity = [&told] { ++told; },
                  .on_fabric = [] {}});
  api::Pod pod;
  pod.meta.key = {"ns", "p"};
  pod.phase = api::PodPhase::kPending;
  store.Put(pod);
  EXPECT_EQ(told, 1);
  pod.nominated_node = "n";
  pod.meta.resource_version = "2";
  store.Put(pod);
  EXPECT_EQ(told, 2);
  store.Remove<api::Pod>({{"ns", "p"}});
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace weft::watch

#include "operator/framework/traits.h"

#include <gtest/gtest.h>

#include "operator/api/names.h"

namespace weft::framework {
namespace {

using api::FrameworkType;

const Traits& Of(FrameworkType type) {
  api::Framework framework;
  framework.type = type;
  return TraitsOf(framework);
}

struct Case {
  FrameworkType type;
  std::string_view name, expects, launcher;  // launcher: one that starts it, ""
  bool by_ssh = false, own_processes = false, limit = false;
};

TEST(TraitsTest, BelongToTheFrameworkOfTheirRow) {
  const Case cases[] = {
      {FrameworkType::kTorch, "Torch", "torchrun", "torchrun"},
      {FrameworkType::kDeepSpeed, "DeepSpeed", "torchrun or deepspeed --no_ssh", "deepspeed"},
      {FrameworkType::kMPI, "MPI", "mpirun or mpiexec", "mpirun", true},
      {FrameworkType::kJAX, "JAX", "the script itself", "", false, true},
      {FrameworkType::kTensorFlow, "TensorFlow", "the script itself", "", false, true, true},
      {FrameworkType::kCustom, "Custom", "", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(NameOf(api::kFrameworkNames, c.type), c.name);
    const Traits& traits = Of(c.type);
    EXPECT_EQ(traits.expects, c.expects) << c.name;
    EXPECT_EQ(traits.StartedBy(c.launcher), !c.launcher.empty()) << c.name;
    EXPECT_EQ(traits.launches_by_ssh(), c.by_ssh) << c.name;
    EXPECT_EQ(traits.own_processes, c.own_processes) << c.name;
    EXPECT_EQ(traits.too_many_workers != nullptr, c.limit) << c.name;
  }
  EXPECT_EQ(std::size(cases), api::kFrameworkNames.size());
}

TEST(TraitsTest, TorchrunStartsDeepSpeedAndDeepSpeedsLauncherNotTorch) {
  EXPECT_TRUE(Of(FrameworkType::kDeepSpeed).StartedBy("torchrun"));
  EXPECT_FALSE(Of(FrameworkType::kTorch).StartedBy("deepspeed"));
}

TEST(TraitsTest, KnowTheLaunchersOfAllFrameworks) {
  for (const char* launcher : {"torchrun", "ft_launcher", "deepspeed", "mpirun", "mpiexec",
                               "mpiexec.hydra", "horovodrun"}) {
    EXPECT_TRUE(IsLauncher(launcher)) << launcher;
  }
  EXPECT_FALSE(IsLauncher("python"));
  EXPECT_FALSE(IsLauncher(""));
}

}  // namespace
}  // namespace weft::framework

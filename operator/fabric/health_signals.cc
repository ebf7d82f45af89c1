#include "operator/fabric/health_signals.h"

#include <algorithm>
#include <string_view>

namespace weft::fabric {
namespace {

struct Condition {
  std::string_view type, status;
};

// A condition that is only a warning is not here.
constexpr Condition kConditions[] = {
    // Fatal errors of NVSentinel (NVIDIA/NVSentinel, docs/INTEGRATIONS.md; others become events).
    {"GpuMemWatch", "True"},
    {"GpuPcieWatch", "True"},
    {"GpuPowerWatch", "True"},
    {"GpuInforomWatch", "True"},
    {"GpuSmWatch", "True"},
    {"GpuNvlinkWatch", "True"},
    {"GpuMcuWatch", "True"},
    {"GpuPmuWatch", "True"},
    {"GpuDriverWatch", "True"},
    {"GpuThermalWatch", "True"},
    {"GpuXidError", "True"},
    {"SysLogsXIDError", "True"},
    {"SysLogsSXIDError", "True"},
    {"SysLogsGPUFallenOff", "True"},
    {"NVSwitchFatalError", "True"},
    {"NVSwitchDown", "True"},
    {"CSPMaintenance", "True"},
    // node-problem-detector (its README), also on GKE.
    {"KernelDeadlock", "True"},
    {"ReadonlyFilesystem", "True"},
    {"CorruptDockerOverlay2", "True"},
    // AKS (learn.microsoft.com/azure/aks/node-problem-detector).
    {"GPUMissing", "True"},
    {"NVLinkStatusInactive", "True"},
    {"XIDErrors", "True"},
    {"IBLinkFlapping", "True"},
    {"KubeletProblem", "True"},
    {"ContainerRuntimeProblem", "True"},
    {"FilesystemCorruptionProblem", "True"},
    // EKS (docs.aws.amazon.com/eks/latest/userguide/node-health.html).
    {"AcceleratedHardwareReady", "False"},
    {"ContainerRuntimeReady", "False"},
    {"KernelReady", "False"},
    {"NetworkingReady", "False"},
    {"StorageReady", "False"},
    // Nebius (nebius/nebius-solutions-library, soperator/modules/k8s/k8s_ng_workers_v2.tf).
    {"NebiusGPUError", "True"},
    {"HardwareIssuesSuspected", "True"},
    {"NebiusContainerRuntimeError", "True"},
    {"NebiusBootDiskIOError", "True"},
    // Kubernetes.
    {"NetworkUnavailable", "True"},
};

// Taints by key, of any value and effect.
constexpr std::string_view kTaints[] = {
    // NVSentinel, as its guide and its tests set them.
    "nvidia.com/gpu-error",
    "nvidia.com/gpu-xid-error",
    "nvidia.com/gpu-nvlink-error",
    "nvidia.com/syslog-xid-error",
    "AggregatedNodeHealth",
    // AMD's GPU operator, until its workflow has mended the node (RemediationTaintKey).
    "amd-gpu-unhealthy",
    // The node is about to be removed: cluster-autoscaler, Karpenter, GKE.
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "cloud.google.com/impending-node-termination",
    // It is off, or declared dead (kubernetes.io, Well-Known Labels, Annotations and Taints).
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.kubernetes.io/out-of-service",
};

struct Label {
  std::string_view key, value;
};

// Labels of NVIDIA's GPU Operator: a driver upgrade that has begun or failed
// (NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go; "upgrade-required" only waits for its turn),
// and a MIG layout that is being changed or could not be (NVIDIA/mig-parted, nvidia-mig-manager).
constexpr std::string_view kDriverUpgrade = "nvidia.com/gpu-driver-upgrade-state";
constexpr std::string_view kMigState = "nvidia.com/mig.config.state";
constexpr Label kLabels[] = {
    {kDriverUpgrade, "cordon-required"},
    {kDriverUpgrade, "wait-for-jobs-required"},
    {kDriverUpgrade, "pod-deletion-required"},
    {kDriverUpgrade, "drain-required"},
    {kDriverUpgrade, "pod-restart-required"},
    {kDriverUpgrade, "validation-required"},
    {kDriverUpgrade, "uncordon-required"},
    {kDriverUpgrade, "upgrade-failed"},
    {kMigState, "pending"},
    {kMigState, "rebooting"},
    {kMigState, "failed"},
};

bool IsSignal(const NodeCondition& is) {
  return std::any_of(std::begin(kConditions), std::end(kConditions), [&](const Condition& known) {
    return known.type == is.type && known.status == is.status;
  });
}

}  // namespace

std::vector<HealthChange> HealthChanges(const NodeFacts& node) {
  std::vector<HealthChange> changes;
  for (const NodeCondition& is : node.conditions) {
    if (is.since != 0 && IsSignal(is)) changes.push_back({is.type + "=" + is.status, is.since});
  }
  return changes;
}

bool IsMonitored(const NodeFacts& node) {
  return std::any_of(node.conditions.begin(), node.conditions.end(), [](const NodeCondition& is) {
    const bool known = std::any_of(std::begin(kConditions), std::end(kConditions),
                                   [&](const Condition& one) { return one.type == is.type; });
    const bool of_gpus = is.type.starts_with("Gpu") || is.type.starts_with("SysLogs") ||
                         is.type.find("GPU") != is.type.npos ||
                         is.type.find("XID") != is.type.npos ||
                         is.type == "AcceleratedHardwareReady";
    return known && of_gpus;
  });
}

std::int64_t UnreadySince(const NodeFacts& node) {
  for (const NodeCondition& is : node.conditions) {
    if (is.type == "Ready") return is.status == "True" ? 0 : is.since;
  }
  return 0;
}

std::optional<std::string> HealthSignal(const NodeFacts& node) {
  for (const NodeCondition& is : node.conditions) {
    if (IsSignal(is)) return "condition " + is.type + "=" + is.status;
  }
  for (const Taint& taint : node.taints) {
    if (std::find(std::begin(kTaints), std::end(kTaints), taint.key) != std::end(kTaints)) {
      return "taint " + taint.key + ":" + taint.effect;
    }
  }
  for (const Label& known : kLabels) {
    if (node.labels.At(known.key) == known.value) {
      return "label " + std::string(known.key) + "=" + std::string(known.value);
    }
  }
  return std::nullopt;
}

}  // namespace weft::fabric

#include "tests/world/kinds.h"

#include "operator/base/check.h"

namespace weft::world {

using Json = nlohmann::json;

namespace {

std::string ResourceOf(const Kind& kind) {
  return kind.plural + (kind.group.empty() ? "" : "." + kind.group);
}

std::vector<Kind> CoreKinds() {
  return {
      {.group = "",
       .version = "v1",
       .plural = "pods",
       .kind = "Pod",
       .status = true,
       .generation = true,
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "nodes",
       .kind = "Node",
       .namespaced = false,
       .status = true},
      {.group = "",
       .version = "v1",
       .plural = "namespaces",
       .kind = "Namespace",
       .namespaced = false,
       .status = true,
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "services",
       .kind = "Service",
       .status = true,
       .create_on_update = true,
       .returns_deleted = true},
      {.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"},
      {.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"},
      {.group = "",
       .version = "v1",
       .plural = "serviceaccounts",
       .kind = "ServiceAccount",
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "resourcequotas",
       .kind = "ResourceQuota",
       .status = true,
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "persistentvolumeclaims",
       .kind = "PersistentVolumeClaim",
       .status = true,
       .returns_deleted = true},
      {.group = "",
       .version = "v1",
       .plural = "persistentvolumes",
       .kind = "PersistentVolume",
       .namespaced = false,
       .status = true,
       .returns_deleted = true},
      {.group = "", .version = "v1", .plural = "events", .kind = "Event", .create_on_update = true},
  };
}

std::vector<Kind> OtherKinds() {
  return {
      {.group = "events.k8s.io",
       .version = "v1",
       .plural = "events",
       .kind = "Event",
       .create_on_update = true},
      {.group = "coordination.k8s.io",
       .version = "v1",
       .plural = "leases",
       .kind = "Lease",
       .unconditional = false,
       .create_on_update = true},
      {.group = "scheduling.k8s.io",
       .version = "v1",
       .plural = "priorityclasses",
       .kind = "PriorityClass",
       .namespaced = false,
       .generation = true},
      {.group = "resource.k8s.io",
       .version = "v1",
       .plural = "resourceslices",
       .kind = "ResourceSlice",
       .namespaced = false,
       .generation = true},
      {.group = "resource.k8s.io",
       .version = "v1",
       .plural = "resourceclaims",
       .kind = "ResourceClaim",
       .status = true},
      {.group = "resource.k8s.io",
       .version = "v1",
       .plural = "resourceclaimtemplates",
       .kind = "ResourceClaimTemplate"},
      {.group = "resource.k8s.io",
       .version = "v1",
       .plural = "deviceclasses",
       .kind = "DeviceClass",
       .namespaced = false,
       .generation = true},
      {.group = "storage.k8s.io",
       .version = "v1",
       .plural = "storageclasses",
       .kind = "StorageClass",
       .namespaced = false},
      {.group = "storage.k8s.io",
       .version = "v1",
       .plural = "csinodes",
       .kind = "CSINode",
       .namespaced = false},
      {.group = "batch",
       .version = "v1",
       .plural = "jobs",
       .kind = "Job",
       .status = true,
       .generation = true},
  };
}

}  // namespace

Kind PodGroupKind() {
  Kind kind{.group = "scheduling.k8s.io",
            .version = "v1beta1",
            .plural = "podgroups",
            .kind = "PodGroup",
            .status = true,
            .generation = true,
            .unconditional = false};
  kind.resource = ResourceOf(kind);
  return kind;
}

std::vector<Kind> BuiltInKinds() {
  std::vector<Kind> kinds = CoreKinds();
  for (const Kind& kind : OtherKinds()) kinds.push_back(kind);
  for (Kind& kind : kinds) {
    kind.resource = ResourceOf(kind);
    if (kind.kind == "ConfigMap") kind.shape = std::make_shared<const Shape>(ConfigMapShape());
  }
  return kinds;
}

Kind KindOf(const Json& definition) {
  const Json& spec = definition.at("spec");
  for (const Json& version : spec.at("versions")) {
    if (!version.at("served").get<bool>()) continue;
    const Json& names = spec.at("names");
    Kind kind{.group = spec.at("group"),
              .version = version.at("name"),
              .plural = names.at("plural"),
              .kind = names.at("kind")};
    kind.namespaced = spec.at("scope") == "Namespaced";
    kind.status = version.contains("subresources") && version["subresources"].contains("status");
    kind.generation = true;
    kind.unconditional = false;
    kind.custom = true;
    kind.resource = ResourceOf(kind);
    if (version.contains("schema")) {
      const Json& openapi = version["schema"].at("openAPIV3Schema");
      kind.schema = std::make_shared<Schema>(openapi);
      kind.shape = std::make_shared<const Shape>(ShapeOf(openapi));
    }
    return kind;
  }
  WEFT_CHECK(false);  // a definition without a served version
  return {};
}

}  // namespace weft::world

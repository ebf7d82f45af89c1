#pragma once

#include "operator/api/meta.h"
#include "operator/rules/pod_requirements.h"

namespace weft::api {

// What the API server adds to pods that name a RuntimeClass in spec.runtimeClassName.
struct RuntimeClass {
  Place place;
  ObjectMeta meta;
  rules::PodRequirements adds;  // overhead as requests, node selector, tolerations
};

}  // namespace weft::api

#pragma once

#include <string>

#include "operator/api/meta.h"
#include "operator/fabric/node_facts.h"

namespace weft::api {

// The annotation in which the device plug-in of HAMi registers a node's NVIDIA GPUs, each with the
// number of units (`count`) that pods may share it by: a JSON array of objects, of older
// releases a text "ID,COUNT,MEMORY,CORES,TYPE,NUMA,HEALTHY:...". A node with a GPU of several units
// has the number of its GPUs in the label fabric::kRegisteredGpus. That of a node without the
// annotation stays as it is: a snapshot writes the label in place of the annotation. Volcano's
// device plug-in registers them in the older form.
//
// Source  project-hami.io/docs/developers/protocol; Project-HAMi/HAMi, docs/develop/protocol.md.
//         volcano-sh/volcano-vgpu-device-plugin, README.
inline constexpr const char* kHamiRegister = "hami.io/node-nvidia-register";
inline constexpr const char* kVolcanoRegister = "volcano.sh/node-vgpu-register";

struct Node {
  Place place;
  ObjectMeta meta;         // name, uid and creation only; labels are in facts
  std::string unreadable;  // why only its name is known; "" if all is known
  fabric::NodeFacts facts;
};

}  // namespace weft::api

#include "operator/life/machine.h"

#include <nlohmann/json.hpp>

#include "operator/base/check.h"

namespace weft::life {

void NameMachine(UnixSeconds made, nlohmann::json& pod) {
  WEFT_CHECK(pod.is_object());  // a pod that is null would become one with nothing but this
  if (made == 0) {              // nor may its template say so
    const nlohmann::json::json_pointer annotations("/metadata/annotations");
    if (pod.contains(annotations)) pod[annotations].erase(kNodeCreatedAnnotation);
    return;
  }
  pod["metadata"]["annotations"][kNodeCreatedAnnotation] = FormatTime(made);
}

}  // namespace weft::life

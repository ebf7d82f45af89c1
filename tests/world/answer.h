#pragma once

#include <optional>
#include <string>

#include "tests/world/api_server.h"
#include "tests/world/cause.h"
#include "tests/world/kinds.h"

namespace weft::world {

// Answers of the API server, in its words. `Refusal`: an answer that ends a request early.
using Refusal = std::optional<kube::Response>;

kube::Response Answer(int code, std::string body);
kube::Response Failure(int code, const std::string& reason, const std::string& message,
                       Json details);
kube::Response NotFound(const Kind& kind, const std::string& name);
kube::Response NoSuchResource();
kube::Response AlreadyExists(const Kind& kind, const std::string& name, bool deleting = false);
// `subresource` is "" or "binding".
kube::Response Conflict(const Kind& kind, const std::string& name, const std::string& why,
                        const std::string& subresource = "");
kube::Response Changed(const Kind& kind, const std::string& name);
kube::Response Invalid(const Kind& kind, const std::string& name, const Causes& causes);
kube::Response Forbidden(const Kind& kind, const std::string& name, const std::string& why,
                         const Causes& causes = {});
kube::Response BadRequest(const std::string& message);
kube::Response Expired(const std::string& message);
// The Status of something that was deleted or bound; `uid` may be "".
kube::Response Success(int code, const Kind& kind, const std::string& name, const std::string& uid);
// Only {"kind":"Status","status":"Success"}.
kube::Response PlainSuccess(int code);

}  // namespace weft::world

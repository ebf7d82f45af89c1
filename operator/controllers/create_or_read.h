#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "operator/base/result.h"
#include "operator/controllers/api_writer.h"

namespace weft::controllers {

// The object that has the name.
struct Named {
  nlohmann::json object;  // as stored
  // "" if it is the one that was asked for; else that it is not, and whose it is: "Service a/b
  // already exists with another owner: Deployment c (uid 1)".
  std::string taken;
};

// Creates an object that has a fixed name, or reads the one that exists: an earlier try may have
// created it whose answer was lost. It is the one that was asked for if it has the owner that
// `object` has, or, if that has none, is of the job of its label (life::IsOfJob). Callers may ask
// for more: that it is of this attempt, or is not being deleted. Only the Placements of gangs of
// other controllers are known by a label (foreign_controller.cc), since what keeps a gang changes.
// Errors  of the create, or of the read; kConflict if the server answers both that the object
//         exists and that it does not.
Result<Named> CreateOrRead(ApiWriter& writer, Kind kind, const nlohmann::json& object);

// The same where an object that is not the one asked for is waited out: its name may become free.
// Errors  also kTransient: the name is taken.
Result<nlohmann::json> CreateOwn(ApiWriter& writer, Kind kind, const nlohmann::json& object);

// Named::taken of an object that was read.
std::string WhyTaken(const nlohmann::json& object, const nlohmann::json& stored);

}  // namespace weft::controllers

#pragma once

#include "operator/api/meta.h"

namespace weft::api {

struct Namespace {
  Place place;
  ObjectMeta meta;
};

}  // namespace weft::api

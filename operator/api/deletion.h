#pragma once

#include <string>

#include "operator/api/meta.h"

namespace weft::api {

// What is known of an object that is gone. Its name may be in use again by the time that the news
// of it arrives, so the name alone says nothing.
struct Deletion {
  ObjectKey key;
  std::string uid = {};  // "": whichever had the name, as when a list lacks it
  // The resourceVersion at which no object of this uid (or, without a uid, of this name) existed
  // any more. "": not known, as after a delete of our own, whose answer has none.
  std::string version = {};
};

}  // namespace weft::api

#pragma once

#include "operator/api/inputs.h"

namespace weft::api {

// Gives the pods of TrainingJobs what their RuntimeClasses add. Only of those whose admission is
// not known (status.admission), as of one in a file. A class that is not among the inputs, or that
// wants another value of a label than the template, changes nothing: the API server would refuse
// the pods.
//
// Source  Kubernetes, plugin/pkg/admission/runtimeclass.
void ApplyRuntimeClasses(Inputs& inputs);

}  // namespace weft::api

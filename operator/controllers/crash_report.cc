#include "operator/controllers/crash_report.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/encode.h"
#include "operator/api/kueue.h"
#include "operator/life/kueue_check.h"
#include "operator/life/kueue_check_crash.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

std::optional<Kind> KindOf(std::string_view kind) {
  if (kind == "TrainingJob") return Kind::kTrainingJob;
  if (kind == "Placement") return Kind::kPlacement;
  if (kind == "Workload") return Kind::kWorkload;
  return std::nullopt;
}

Error Gone(const std::string& what) { return {ErrorKind::kNotFound, what}; }

// The status with one more crash. A TrainingJob and a Placement share what is read of them.
Result<Json> ConditionsAfter(const Json& object, const plan::CrashSubject& subject,
                             const plan::SolverCrash& crash, UnixSeconds now) {
  std::vector<api::Condition> conditions;
  const auto read = [&](const auto& decoded) -> Status {
    if (!decoded) return decoded.error();
    conditions = decoded->conditions;
    return {};
  };
  const Status done =
      subject.kind == "TrainingJob"
          ? read(api::DecodeTrainingJob(object, "TrainingJob", api::Reading::kServed))
          : read(api::DecodePlacement(object, "Placement", api::Reading::kServed));
  if (!done) return done.error();
  // Also if the spec has changed since: the crash counts for the pause then.
  plan::RecordCrash(conditions, subject.generation, crash, now);
  Json patch;  // one list, which is replaced whole
  patch["status"]["conditions"] = api::EncodeConditions(conditions);
  return patch;
}

Result<Json> ChecksAfter(ApiWriter& writer, const Json& object, const plan::SolverCrash& crash,
                         UnixSeconds now) {
  const auto workload = api::DecodeWorkload(object, "Workload");
  if (!workload) return workload.error();
  const auto list = writer.Get({Kind::kAdmissionCheck, {"", ""}, "", ""});
  if (!list) return list.error();
  std::vector<api::AdmissionCheck> checks;
  for (const Json& item : list->value("items", Json::array())) {
    auto check = api::DecodeAdmissionCheck(item, "AdmissionCheck");
    if (check && check->controller == api::kCheckController) checks.push_back(*std::move(check));
  }
  std::vector<const api::AdmissionCheck*> ours;
  for (const api::AdmissionCheck& check : checks) ours.push_back(&check);
  const life::AnswerCheck answer = life::AnswerCrash(*workload, ours, crash, now);
  if (answer.checks.empty()) return Gone("it has no AdmissionCheck of Weft any more");
  return Json(life::PatchOf(*workload, answer, now));
}

Status Record(ApiWriter& writer, Target target, const plan::CrashSubject& subject,
              const plan::SolverCrash& crash, UnixSeconds now) {
  const Result<Json> object = writer.PatchStatus(target, Json::object());
  if (!object) return object.error();
  const Json& meta = object->at("metadata");
  // An API server that does not compare the uid of a patch is caught here.
  if (meta.value("uid", "") != subject.uid) return Gone("another object has its name");
  const Result<Json> patch = target.kind == Kind::kWorkload
                                 ? ChecksAfter(writer, *object, crash, now)
                                 : ConditionsAfter(*object, subject, crash, now);
  if (!patch) return patch.error();
  target.resource_version = meta.value("resourceVersion", "");
  const Result<Json> stored = writer.PatchStatus(target, *patch);
  if (!stored) return stored.error();
  return {};
}

}  // namespace

Status ReportCrash(ApiWriter& writer, const plan::CrashSubject& subject,
                   const plan::SolverCrash& crash, UnixSeconds now,
                   const std::function<bool()>& wait_to_retry) {
  const auto kind = KindOf(subject.kind);
  if (!kind) return Gone("its kind has no record");
  while (true) {
    Status recorded = Record(writer, {*kind, subject.key, subject.uid, ""}, subject, crash, now);
    if (recorded) return recorded;
    const ErrorKind why = recorded.error().kind;
    const bool passing = why == ErrorKind::kConflict || why == ErrorKind::kTransient;
    if (!passing || !wait_to_retry()) return recorded;
  }
}

}  // namespace weft::controllers

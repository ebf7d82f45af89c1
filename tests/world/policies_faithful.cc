// Compares what the chart lets whom do here (rights.h, policies.h) with a real API server on which
// the chart is installed: both get the same random requests of the operator's account and of
// others, and must accept and refuse the same, a right or policy in the same words.
//
//   policies-faithful --definitions             prints the definitions of Kueue that it needs
//   policies-faithful [--seed N] [--questions COUNT] [--verbose]
//
// The real one is that of $KUBECONFIG, an administrator's, prepared by policies_test.sh. Exit code
// 1 after a difference.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <thread>

#include "operator/api/json_text.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "tests/world/actor.h"
#include "tests/world/definitions.h"
#include "tests/world/kueue.h"
#include "tests/world/policies.h"
#include "tests/world/policies_faithful_script.h"
#include "tests/world/rights.h"

namespace weft::world {
namespace {

// An API server learns of policies and roles from watches of its own.
constexpr std::chrono::seconds kLongestWait{600};
constexpr std::chrono::milliseconds kBetween{100};

struct Flags {
  std::uint64_t seed = 1;
  int questions = 800;
  bool verbose = false;
};

std::vector<Json> Definitions() {
  std::vector<Json> all = WeftDefinitions();
  for (Json& one : KueueDefinitions()) all.push_back(std::move(one));
  return all;
}

// What both must have in common.
struct Answered {
  int status = 0;
  std::string reason, message;
  Json gates;  // of a pod
};

Answered Read(const kube::Response& response) {
  Answered answered{response.status, "", "", nullptr};
  const Json body = api::ParseJson(response.body);
  if (response.status >= 300) {
    answered.reason = TextAt(body, {"reason"});
    answered.message = TextAt(body, {"message"});
  } else if (TextAt(body, {"kind"}) == "Pod") {
    answered.gates = At(body, {"spec", "schedulingGates"});
  }
  return answered;
}

class Comparison {
 public:
  Comparison(kube::Config config, bool verbose)
      : server_({.definitions = Definitions(), .now_seconds = [] { return 1'800'000'000; }}),
        policies_(server_),
        config_(std::move(config)),
        verbose_(verbose) {
    server_.SetRights(kOperatorAccount, OperatorRights());
    server_.SetRights(kTenant, EditRights({"team-a", "team-p"}));
    server_.SetRights(kPipeline, AdminRights({"team-a"}));
    server_.SetAdmission([this](const auto& attempt) -> std::optional<kube::Response> {
      policies_.AddGate(attempt);
      return std::nullopt;
    });
    server_.SetValidation([this](const auto& attempt) {
      denials_ = policies_.DenialsOf(attempt);
      return policies_.Validate(attempt);
    });
  }

  // Makes what questions are about. False: one of them did not.
  bool Begin() {
    for (const kube::Request& request : PolicyObjects()) {
      auto theirs = RealOf(kAdmin).Send(request);
      // A new definition is served a moment later.
      const auto end = std::chrono::steady_clock::now() + kLongestWait;
      while (theirs && theirs->status == 404 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kBetween);
        theirs = RealOf(kAdmin).Send(request);
      }
      const kube::Response ours = server_.Handle(request, kAdmin);
      const int their = theirs ? theirs->status : 0;
      const auto there = [](int status) { return status / 100 == 2 || status == 409; };
      if (there(ours.status) && there(their)) continue;
      std::cout << "not made: " << request.path << " " << request.body
                << "\n  memory: " << ours.status << " " << Read(ours).message
                << "\n  real:   " << their << " "
                << (theirs ? Read(*theirs).message : theirs.error().message) << "\n";
      return false;
    }
    return true;
  }

  // Until the real one denies what each policy denies.
  bool Await() {
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    for (const Question& question : FirstQuestions()) {
      while (!IsSame(question, false)) {
        if (std::chrono::steady_clock::now() > end) return IsSame(question, true);
        std::this_thread::sleep_for(kBetween);
      }
    }
    return true;
  }

  bool IsSame(const Question& question, bool tells) {
    denials_.clear();
    const Answered ours = Read(server_.Handle(question.request, question.user));
    auto answer = RealOf(question.user).Send(question.request);
    // It still reads what is stored of a new definition.
    while (answer && answer->status == 429) {
      std::this_thread::sleep_for(kBetween);
      answer = RealOf(question.user).Send(question.request);
    }
    const Answered theirs = answer ? Read(*answer) : Answered{0, "", answer.error().message, {}};
    if (tells) ++seen_[Kind(theirs)];
    if (tells && verbose_) {
      std::cout << question.user << ": " << question.what << " -> " << theirs.status << " "
                << theirs.message << "\n";
    }
    const bool same = ours.status == theirs.status && ours.reason == theirs.reason &&
                      ours.gates == theirs.gates && HasSameWords(ours, theirs);
    // Several policies deny it: which one is told is chance.
    if (same || (denials_.size() > 1 && IsOneOf(theirs))) return true;
    if (tells) {
      std::cout << "DIFFERENCE: " << question.user << ": " << question.what << "\n";
      for (const auto& [name, one] : {std::pair{"memory", ours}, std::pair{"real", theirs}}) {
        std::cout << "  " << name << ": " << one.status << " " << one.reason << ": " << one.message
                  << " " << one.gates << "\n";
      }
    }
    return false;
  }

  // How many questions had which answer of the real one.
  const std::map<std::string, int>& seen() const { return seen_; }

 private:
  static bool ByPolicy(const Answered& answered) {
    return answered.message.find("ValidatingAdmissionPolicy '") != std::string::npos;
  }
  static bool ByRights(const Answered& answered) {
    return answered.message.find(" is forbidden: User \"") != std::string::npos;
  }
  static std::string Kind(const Answered& answered) {
    if (ByRights(answered)) return "refused by rights";
    if (ByPolicy(answered)) return "denied by a policy";
    return answered.status / 100 == 2 ? "accepted" : "refused otherwise";
  }
  // Other refusals may be worded otherwise.
  static bool HasSameWords(const Answered& ours, const Answered& theirs) {
    if (Kind(ours) != Kind(theirs)) return false;
    return (!ByPolicy(theirs) && !ByRights(theirs)) || ours.message == theirs.message;
  }

  bool IsOneOf(const Answered& theirs) const {
    return std::any_of(denials_.begin(), denials_.end(), [&](const Policies::Denial& denial) {
      const std::string words = "ValidatingAdmissionPolicy '" + denial.policy + "' with binding '" +
                                denial.policy + "' denied request: " + denial.message;
      return theirs.message.ends_with(words) && theirs.reason == denial.reason;
    });
  }

  kube::Transport& RealOf(const std::string& user) {
    auto& transport = real_[user];
    if (!transport) {
      kube::Config config = config_;
      if (user != kAdmin) config.impersonate = user;
      transport = kube::MakeHttpTransport(config, "policies-faithful");
    }
    return *transport;
  }

  ApiServer server_;
  const Policies policies_;
  const kube::Config config_;
  const bool verbose_;
  std::map<std::string, std::unique_ptr<kube::Transport>> real_;
  std::vector<Policies::Denial> denials_;  // of the last question, here
  std::map<std::string, int> seen_;
};

int PrintDefinitions() {
  Json all = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", KueueDefinitions()}};
  std::cout << all.dump() << "\n";
  return 0;
}

int Main(const std::vector<std::string>& arguments) {
  Flags flags;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto value = [&] { return i + 1 < arguments.size() ? std::stoull(arguments[++i]) : 0; };
    if (arguments[i] == "--definitions") return PrintDefinitions();
    if (arguments[i] == "--seed") flags.seed = value();
    if (arguments[i] == "--questions") flags.questions = static_cast<int>(value());
    if (arguments[i] == "--verbose") flags.verbose = true;
  }
  kube::UseThreads(2);
  auto config = kube::LoadConfig({});
  if (!config) {
    std::cerr << config.error().message << "\n";
    return 2;
  }
  Comparison comparison(*std::move(config), flags.verbose);
  if (!comparison.Begin() || !comparison.Await()) return 1;
  Questions questions(flags.seed);
  int different = 0;
  for (int i = 0; i < flags.questions; ++i) {
    different += comparison.IsSame(questions.Next(), true) ? 0 : 1;
  }
  std::cout << "seed " << flags.seed << ":";
  for (const auto& [kind, count] : comparison.seen())
    std::cout << " " << count << " " << kind << ";";
  std::cout << " " << different << " different" << std::endl;
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft::world

int main(int count, char** arguments) {
  return weft::world::Main({arguments + 1, arguments + count});
}

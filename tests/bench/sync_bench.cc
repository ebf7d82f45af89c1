// The first copy of a cluster: 10,000 Nodes of about 5 kB and 50,000 Pods of about 4 kB listed,
// decoded and in memory. Played from this process; from a real API server, with whatever it holds,
// where WEFT_BENCH_KUBECONFIG names one.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>

#include "operator/api/decode.h"
#include "operator/kube/config.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "operator/kube/reflector.h"
#include "operator/kube/reflector_decode.h"

namespace weft::kube {
namespace {

constexpr int kNodeCount = 10'000, kPodCount = 50'000;

std::string Number(int number) {
  std::string text = std::to_string(1'000'000 + number);
  text[0] = '-';
  return text;
}

std::string Repeated(int count, const std::string& start, const std::string& end) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text.append(start).append(Number(i)).append(end);
  }
  return text;
}

// A line of a watch, around the object's name and version.
struct Template {
  std::string before, middle, after;

  std::string Line(const std::string& name, int version) const {
    return before + name + middle + std::to_string(version) + after + "\n";
  }
};

const std::string kManaged =
    R"("managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{)" +
    Repeated(40, R"("f:field)", R"(":{".":{},"f:x":{}})") + "}}]}";
const std::string kConditions = Repeated(
    4, R"({"type":"Condition)",
    R"(","status":"True","lastTransitionTime":"2026-08-22T10:00:00Z","reason":"R","message":"m"})");
const std::string kResources =
    R"({"cpu":"224","memory":"2113519664Ki","nvidia.com/gpu":"8","pods":"110"})";

Template NodeTemplate() {
  return {R"({"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"node)",
          R"(","uid":"0b1c5f3e-7a52-4d0c-9f7e-000000000000","resourceVersion":")",
          R"(","labels":{)" + Repeated(16, R"("feature.example/label)", R"(":"value")") +
              R"(,"fabric.topograph.run/tier-0":"leaf-1"},)" + kManaged +
              R"(,"spec":{"podCIDR":"10.0.0.0/24"},"status":{"capacity":)" + kResources +
              R"(,"allocatable":)" + kResources + R"(,"conditions":[)" + kConditions +
              R"(],"images":[)" +
              Repeated(8, R"({"names":["registry.example/team/image)",
                       "@sha256:" + std::string(64, 'a') + R"("],"sizeBytes":1})") +
              "]}}}"};
}

Template PodTemplate() {
  return {R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod)",
          R"(","namespace":"team-a","uid":"0b1c5f3e-7a52-4d0c-9f7e-000000000000",)"
          R"("resourceVersion":")",
          R"(","creationTimestamp":"2026-08-22T10:00:00Z","labels":{"app":"train","tier":"batch"},)"
          R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":)"
          R"("1b1c5f3e-7a52-4d0c-9f7e-000000000000","controller":true}],)" +
              kManaged + R"(,"spec":{"containers":[{"name":"c","image":"registry.example/t:1",)" +
              R"("env":[)" + Repeated(12, R"({"name":"E)", R"(","value":"twenty bytes of text"})") +
              R"(],"resources":{"limits":{"cpu":"4","memory":"8Gi","nvidia.com/gpu":"1"}}}],)" +
              R"("nodeName":"node-000001","tolerations":[{"key":"node.kubernetes.io/not-ready",)" +
              R"("operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},)" +
              R"("status":{"phase":"Running","conditions":[)" + kConditions +
              R"(],"podIPs":[{"ip":"10.1.0.1"}],"containerStatuses":[{"name":"c","state":)" +
              R"({"running":{"startedAt":"2026-08-22T10:00:00Z"}},"imageID":")" +
              std::string(64, 'a') + R"("}]}}})"};
}

// Streams lists as an API server would, 32 kB at a time, and is silent after that.
class PlayedServer : public Transport {
 public:
  Result<Response> Send(const Request&) override { return Error{ErrorKind::kInvalid, "not here"}; }
  Result<Response> Stream(const Request& request, const ChunkSink& sink,
                          const Cancel& cancel) override {
    if (!request.query.contains("sendInitialEvents")) {
      cancel.wait(false);
      return Error{ErrorKind::kTransient, "cancelled"};
    }
    const bool nodes = request.path == "/api/v1/nodes";
    const Template object = nodes ? NodeTemplate() : PodTemplate();
    std::string chunk;
    for (int i = 0; i < (nodes ? kNodeCount : kPodCount); ++i) {
      chunk += object.Line(Number(i), i + 1);
      if (chunk.size() < (std::size_t{32} << 10)) continue;
      if (!sink(chunk)) return Response{200, {}, ""};
      chunk.clear();
    }
    chunk += R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"99999","annotations":)"
             R"({"k8s.io/initial-events-end":"true"}}}})"
             "\n";
    sink(chunk);
    return Response{200, {}, ""};
  }
};

template <typename T>
class Copy : public TypedSink<T> {
 public:
  void OnReplaceBegin() override {}
  void OnUpsert(const api::ObjectKey& key, T object) override {
    objects[key] = std::make_shared<const T>(std::move(object));
  }
  void OnUndecodable(const api::ObjectKey&, const nlohmann::json&, const std::string&) override {
    ++undecodable;
  }
  void OnDelete(const api::Deletion& deletion) override { objects.erase(deletion.key); }
  void OnSynced(const std::string&) override { synced.release(); }

  std::map<api::ObjectKey, std::shared_ptr<const T>> objects;
  std::size_t undecodable = 0;
  std::binary_semaphore synced{0};
};

Reflector::Options OptionsOf(const char* path, manifest::Subject subject) {
  Reflector::Options options;
  options.watch.path = path;
  options.subject = subject;
  return options;
}

// Peak resident memory since the last reset, where the kernel allows one, in megabytes.
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }
double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1'024 / 1e6;
  }
  return 0;
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Sync(benchmark::State& state, Transport& transport) {
  double cpu = 0, peak = 0;
  std::size_t nodes_held = 0, pods_held = 0;
  for (auto _ : state) {
    malloc_trim(0);
    ResetPeak();
    const double before = CpuSeconds();
    Copy<api::Node> nodes;
    Copy<api::Pod> pods;
    DecodingSink<api::Node> node_sink("nodes", api::DecodeNode, nodes);
    DecodingSink<api::Pod> pod_sink("pods", api::DecodePod, pods);
    Reflector node_reflector(transport, node_sink,
                             OptionsOf("/api/v1/nodes", manifest::Subject::kNode));
    Reflector pod_reflector(transport, pod_sink,
                            OptionsOf("/api/v1/pods", manifest::Subject::kPod));
    node_reflector.Start();
    pod_reflector.Start();
    nodes.synced.acquire();
    pods.synced.acquire();
    cpu = CpuSeconds() - before;
    peak = PeakMegabytes();
    nodes_held = nodes.objects.size();
    pods_held = pods.objects.size();
    if (nodes.undecodable + pods.undecodable > 0) state.SkipWithError("undecodable objects");
    state.PauseTiming();
    node_reflector.Stop();
    pod_reflector.Stop();
    state.ResumeTiming();
  }
  state.counters["cpu_seconds"] = cpu;
  state.counters["peak_megabytes"] = peak;
  state.counters["nodes"] = static_cast<double>(nodes_held);
  state.counters["pods"] = static_cast<double>(pods_held);
}

void BM_SyncPlayed(benchmark::State& state) {
  PlayedServer server;
  Sync(state, server);
}
BENCHMARK(BM_SyncPlayed)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_SyncFromServer(benchmark::State& state) {
  const char* file = std::getenv("WEFT_BENCH_KUBECONFIG");
  if (file == nullptr) return state.SkipWithError("WEFT_BENCH_KUBECONFIG is not set");
  const Result<Config> config = LoadConfig({file, ""});
  if (!config) return state.SkipWithError(config.error().message.c_str());
  static std::once_flag threads;
  std::call_once(threads, UseThreads, 2);
  const std::unique_ptr<Transport> transport = MakeHttpTransport(*config, "weft/bench");
  Sync(state, *transport);
}

// Registered where there is one, so that a table of all benchmarks has no empty row.
const bool registered = [] {
  if (std::getenv("WEFT_BENCH_KUBECONFIG") == nullptr) return false;
  benchmark::RegisterBenchmark("BM_SyncFromServer", BM_SyncFromServer)
      ->Iterations(1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace weft::kube

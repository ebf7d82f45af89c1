#!/usr/bin/env bash
# Runs every test: installs what is missing, builds, and ends in ctest's summary.
#
#   tests/run.sh                     unit tests (also under AddressSanitizer and
#                                    UndefinedBehaviorSanitizer, and tests of threaded code under
#                                    ThreadSanitizer), end-to-end scripts (also on a real
#                                    Kubernetes control plane, real kubelets with containers, and
#                                    real ranks of PyTorch, MPI, JAX and TensorFlow), fuzzers briefly
#                                    (about an hour on two cores after the first time)
#   tests/run.sh --fast              unit tests and the rules of the source tree, in build/ only
#                                    (less than two minutes after a build)
#   tests/run.sh --campaign NAME     the long form of one kind:
#       quality    the solver against the exact optimum on 25 times the random instances, and on
#                  large instances of every family and size against thorough searches and annealing
#                  (build/quality.md, half an hour); then how long small jobs take
#                  (build/small_jobs.md)
#       fuzz       every parser fuzzed for five minutes; 1,000,000 random placement problems
#       bench      benchmarks, five repetitions; writes build/bench.md
#       cluster    measures, with a real API server: binding by kube-scheduler, what PodGroups cost,
#                  the first list of all objects, and how much scrapes and gRPC calls delay
#                  placements (three quarters of an hour)
#       full-size  one job of 16,384 workers from start to end, beside 100,000 pods of other jobs
#                  (half an hour)
#       operator   weft-operator killed 20 times under 200 jobs, its memory over 1,000 jobs, and
#                  its load while idle on 10,000 nodes (half an hour)
#       faults     half an hour of random faults between weft-operator and a real control plane,
#                  then every planted bug, each caught by the law that is meant for it
#       ranks      every framework's ranks as real processes: their order, their traffic against the
#                  prediction, and how much later they start than by hand
#       ground     real kubelets and containers on this machine: every framework's ranks, 50 starts of
#                  each, every fault, 200 random faults, and operator/docs/first-day.md command by
#                  command; needs root (three hours)
#       world      an hour of days of a whole cluster in virtual time, or WEFT_DAYS of them (10,000
#                  take three hours on two cores), other ones each time, in as many processes as
#                  there are cores; a long day and one of 1,024 nodes with a job of 4,096 workers;
#                  then every planted bug, each caught by a law
#       versions   weft-operator on servers that emulate earlier releases of Kubernetes; then of
#                  this and of an earlier commit, which take turns as the leader
#       kueue      the model of Kueue that the world has against the real one; then 200 jobs in
#                  queues of the real Kueue that borrow and preempt, and again while Weft, Kueue and
#                  JobSet are killed five times each (WEFT_PEERS has their programs);
#                  then how fast Weft answers Kueue on 10,000 nodes
#       mutants    changes one place of the decision code at a time and counts the changes that the
#                  unit tests notice. A sample of 400 (an hour); takes the flags of
#                  tests/mutants/mutants.py:
#                  --sample N --seed S, --all, --at FILE:LINE,..., --modules A,B
#       lint       clang-format over all sources, each compiled alone, then clang-tidy over all of
#                  operator/ (an hour and a half of processor time) or over one folder:
#                  --campaign lint operator/search
#   tests/run.sh --help
#
# Builds in build/, build-sanitize/ and build-races/. With CI=true a suite that cannot run is a
# failure; elsewhere it is reported as not run.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
jobs=$(nproc)

# Each fuzz target in a plain run: enough to notice a parser that a change broke.
fuzz_seconds=10
# Each half of the random placement problems: what breaks one of them shows in thousands, not in
# dozens (the crash of the bound: one in 8,000).
instances_seconds=300
campaign_fuzz_seconds=300
# Where the kernel's version of cgroups or the kubelet's counts: a container that takes too much
# memory.
containers_that_fail=ground/program_faults.py:ProgramFaults.test_containers_that_fail
campaign_instances_times=25

stage_name=''
stage_start=0

# stage TEXT: prints how long the one before took, and what comes now.
stage() {
  [ -z "$stage_name" ] || printf '== %s: %d s\n' "$stage_name" $((SECONDS - stage_start))
  stage_name=$1
  stage_start=$SECONDS
  [ -z "$stage_name" ] || printf '\n== %s\n' "$stage_name"
}

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$root/tests/run.sh"; }

# cannot_run WHAT: a failure where nobody looks, a loud line elsewhere.
cannot_run() {
  echo "NOT RUN: $*" >&2
  [ "${CI:-}" != true ] || exit 1
}

# The first clang that brings libFuzzer's runtime; else gcc, which has the sanitizers alone.
clang=''
find_clang() {
  local name runtimes
  for name in ${WEFT_CLANG:-} clang-{14..22} clang; do
    command -v "$name" >/dev/null || continue
    runtimes=("$("$name" -print-resource-dir)"/lib/linux/libclang_rt.fuzzer-*.a)
    [ ! -e "${runtimes[0]}" ] || { clang=$name; return; }
  done
}

# build_control_plane [RELEASE...]: programs of the test cluster, of the default Kubernetes and of
# these. From the cache, or built once with Go (a quarter of an hour for each).
with_cluster=OFF
build_control_plane() {
  local release
  if [ -z "${KUBEBUILDER_ASSETS:-}" ] && ! command -v go >/dev/null; then
    cannot_run 'the tests on a Kubernetes control plane: no go to build it with'
    return
  fi
  tests/controlplane/build.sh
  for release in "$@"; do tests/controlplane/build.sh --kubernetes "$release"; done
  with_cluster=ON
}

# Programs and images of real nodes, from Go modules and Debian's packages or from the cache.
build_real_nodes() {
  [ $with_cluster = ON ] || return 0
  tests/controlplane/build.sh kubelet
  tests/nodes/build.sh
  tests/ground/image.sh ranks >/dev/null || cannot_run 'real nodes: no image for their containers'
}

# What the ranks of a plain run need, from PyPI or the cache: torch alone has 5.4 GB. That takes the
# network a quarter of an hour the first time and the processor a minute, so programs are built
# meanwhile.
install_frameworks() {
  local name
  for name in openmpi4 jax tensorflow torch; do
    tests/ranks/install.sh $name >/dev/null || cannot_run "the ranks of $name: not installed"
  done
}

build_main() {
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=ON \
    -DWEFT_CLUSTER_TESTS=$with_cluster >/dev/null
  ninja -C build -j "$jobs" "$@"
}

# build_sanitized FOLDER ON|thread TARGET...: with clang the fuzzers come from the same objects.
build_sanitized() {
  local compilers=()
  [ -z "$clang" ] ||
    compilers=(-DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="${clang/clang/clang++}")
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DWEFT_SANITIZE="$2" \
    "${compilers[@]}" >/dev/null
  ninja -C "$1" -j "$jobs" "${@:3}"
}

# One list of tests over both builds and the fuzzers, so that one run of ctest sums up everything.
write_test_list() {
  local source target half
  mkdir -p build/all
  {
    echo "subdirs(\"$root/build\" \"$root/build-sanitize\" \"$root/build-races\")"
    # Random placement problems: other ones in each half, so that both cores take part.
    for half in 1 2; do
      echo "add_test(fuzz.instances_$half \"$root/build-sanitize/bin/instances\"" \
        "--first ${half}000000 --seconds $instances_seconds)"
      echo "set_tests_properties(fuzz.instances_$half PROPERTIES LABELS fuzz TIMEOUT 600 COST 1000)"
    done
    # With other compilers and checks a seed has the same history.
    echo "add_test(world.same_history_sanitized bash \"$root/tests/world/same_history.sh\"" \
      "\"$root/build/bin/weft-day\" \"$root/build-sanitize/bin/weft-day\")"
    echo "set_tests_properties(world.same_history_sanitized PROPERTIES LABELS world TIMEOUT 1200)"
    [ -n "$clang" ] || return 0
    for source in tests/fuzz/*_fuzz.cc; do
      target=$(basename "$source" .cc)
      echo "add_test(fuzz.$target bash \"$root/tests/fuzz/run.sh\"" \
        "\"$root/build-sanitize\" $target $fuzz_seconds)"
      # The longest tests start first.
      echo "set_tests_properties(fuzz.$target PROPERTIES LABELS fuzz TIMEOUT 600 COST 1000)"
    done
  } >build/all/CTestTestfile.cmake
}

# The end of what each failed test printed, below the summary: the log of a whole run is long.
repeat_failures() {
  awk -v most=25 '
    /^[0-9]+\/[0-9]+ Testing: / { name = $3 }
    /^<end of output>/ { inside = 0 }
    inside { line[count++ % most] = $0 }
    /^Output:$/ { inside = 1; count = 0 }
    /^Test (Failed|Timeout)/ && !inside {
      print "\n== " name " ended with"
      for (i = (count > most ? count - most : 0); i < count; ++i) print line[i % most]
    }
  ' build/all/Testing/Temporary/LastTest.log
}

run_everything() {
  set -m  # a process group of its own, which can be ended where a build fails
  install_frameworks &
  set +m
  local frameworks=$!
  trap 'kill -- -'$frameworks' 2>/dev/null || true; wait' EXIT
  stage 'Building the Kubernetes control planes, unless they are in the cache'
  build_control_plane 1.37
  stage 'Building kubelet, containerd and the like for real nodes, unless they are in the cache'
  build_real_nodes
  stage 'Building everything in build/'
  build_main
  find_clang
  stage "Building the unit tests${clang:+ and the fuzzers} with ASan and UBSan in build-sanitize/"
  build_sanitized build-sanitize ON unit_tests instances weft-day ${clang:+fuzzers}
  [ -n "$clang" ] || cannot_run 'the fuzzers: no clang with libFuzzer'
  stage 'Building the unit tests of what has threads with TSan in build-races/'
  build_sanitized build-races thread unit_tests
  write_test_list
  stage 'Waiting for the frameworks whose ranks are tested, unless they are in the cache'
  wait $frameworks
  trap - EXIT
  stage 'Running the tests'
  [ -d ../shared/data ] ||
    echo 'NOT TESTED: real topology files: ../shared/data is absent (cases are listed as skipped)'
  local progress=()
  [ ! -t 1 ] || progress=(--progress)
  local status=0
  # Tests with clusters come first. They wait for a third of their time, so three fill two cores;
  # each takes a gigabyte of memory.
  local clusters=$((jobs + 1 < 6 ? jobs + 1 : 6))
  printf '{"version": {"major": 1, "minor": 0}, "local": [{"clusters": [{"id": "0", "slots": %d}]}]}' \
    $clusters >build/all/resources.json
  ctest --test-dir build/all --output-on-failure --no-tests=error --no-label-summary \
    --resource-spec-file "$root/build/all/resources.json" --timeout 300 -j $((jobs + (jobs + 1) / 2)) \
    "${progress[@]}" || status=$?
  [ "$status" = 0 ] || repeat_failures
  return "$status"
}

# Everything labelled unit, in build/ as it is configured there.
run_fast() {
  stage 'Building the unit tests in build/'
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=ON >/dev/null
  ninja -C build -j "$jobs" unit_tests layering_test
  stage 'Running the unit tests'
  local status=0
  ctest --test-dir build -L '^unit$' --output-on-failure --no-tests=error --no-label-summary \
    --timeout 300 -j "$jobs" >build/fast.log || status=$?
  # There are thousands; what passed is not worth a line.
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed )' build/fast.log || true
  stage ''
  return "$status"
}

campaign_quality() {
  stage 'Building the solver and its tests'
  build_main placement_test bound_test quality small_jobs
  stage "The solver against the exact optimum, $campaign_instances_times times the instances"
  export WEFT_INSTANCES_TIMES=$campaign_instances_times
  build/tests/placement_test --gtest_filter='PlaceProperty.*'
  build/tests/bound_test --gtest_filter='LowerBound.*'
  unset WEFT_INSTANCES_TIMES
  stage 'Large jobs: normal effort against the best placement known, and against the bound'
  tests/bench/quality.sh --first 2001 --count 2 --starts 1 --times 1
  stage 'Small jobs: time and cost'
  tests/bench/small_jobs.sh
}

campaign_fuzz() {
  find_clang
  [ -n "$clang" ] || { echo 'the fuzzers need a clang with libFuzzer' >&2; exit 1; }
  stage "Building the fuzzers with $clang"
  build_sanitized build-sanitize ON fuzzers
  stage "Every parser fuzzed for $campaign_fuzz_seconds s"
  tests/fuzz/run.sh "$root/build-sanitize" all $campaign_fuzz_seconds
  stage 'Building the solver'
  build_main instances
  stage '1,000,000 random placement problems'
  build/bin/instances --first 10000000 --count 1000000
}

campaign_bench() {
  stage 'Building the benchmarks'
  build_main
  stage 'Running the benchmarks'
  tests/bench/table.sh
}

campaign_operator() {
  stage 'Building the Kubernetes control plane, unless it is in the cache'
  build_control_plane
  stage 'Building weft and weft-operator'
  build_main weft weft-operator
  stage 'weft-operator killed, filled and left idle'
  WEFT=$root/build/bin/weft WEFT_OPERATOR=$root/build/bin/weft-operator \
    WEFT_SOURCE_DIR=$root bash tests/e2e/operator_campaign.sh
}

campaign_faults() {
  stage 'Building the Kubernetes control plane, unless it is in the cache'
  build_control_plane
  stage 'Building weft and weft-operator'
  build_main weft weft-operator
  stage 'Building weft-operator with planted bugs in build-seeded/'
  cmake -S . -B build-seeded -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF \
    -DWEFT_SEEDED_BUGS=ON >/dev/null
  ninja -C build-seeded -j "$jobs" weft-operator
  stage 'Faults by chance, writes at rest, planted bugs'
  WEFT=$root/build/bin/weft WEFT_OPERATOR=$root/build/bin/weft-operator \
    WEFT_SEEDED_OPERATOR=$root/build-seeded/bin/weft-operator \
    WEFT_SOURCE_DIR=$root bash tests/e2e/faults_campaign.sh
}

# play_days SEED COUNT END: days from this seed on, so many at most, until SECONDS is END. Every
# second hundred has queues of Kueue.
play_days() {
  local seed=$1 left=$2 end=$3 kueue=0 count
  while [ "$left" -gt 0 ] && [ "$SECONDS" -lt "$end" ]; do
    count=$((left < 100 ? left : 100))
    build/bin/weft-day --seed "$seed" --count $count --hours 2 --jobs 40 --faults 60 \
      --kueue $kueue || return 1
    seed=$((seed + count)) left=$((left - count)) kueue=$((1 - kueue))
  done
}

campaign_world() {
  stage 'Building weft-day'
  build_main weft-day
  # Each time and in each process other seeds.
  local part pids=() status=0 first=$(($(date +%s) * 100000000)) most=1000000 end=$((SECONDS + 3600))
  if [ -n "${WEFT_DAYS:-}" ]; then
    most=$(((WEFT_DAYS + jobs - 1) / jobs)) end=$((SECONDS + 100000000))
  fi
  stage "${WEFT_DAYS:-An hour of} days by chance; the first seed is $first"
  : >build/days.log
  for part in $(seq 0 $((jobs - 1))); do
    (play_days $((first + part * 1000000)) $most $end | tee -a build/days.log) &
    pids+=($!)
  done
  for part in "${pids[@]}"; do wait "$part" || status=1; done
  stage 'A day of 64 nodes, 200 jobs and 100 faults; then one of 1,024 nodes, a job on all of them'
  build/bin/weft-day --seed "$first" | tee -a build/days.log || status=1
  build/bin/weft-day --seed "$first" --nodes 1024 --large 4096 | tee -a build/days.log || status=1
  [ "$status" = 0 ] || { echo 'a law was broken (build/days.log)' >&2; exit 1; }
  echo "$(grep -c '^seed ' build/days.log) days were played, and none broke a law"
  stage 'Building weft-day with planted bugs in build-seeded/'
  cmake -S . -B build-seeded -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=ON \
    -DWEFT_SEEDED_BUGS=ON >/dev/null
  ninja -C build-seeded -j "$jobs" weft-day
  stage 'Every planted bug'
  tests/world/bugs.py build-seeded/bin/weft-day
}

campaign_ground() {
  stage 'Building the Kubernetes control plane and the programs of real nodes, unless in the cache'
  build_control_plane
  build_real_nodes
  stage 'Building weft and weft-operator'
  build_main weft weft-operator
  export WEFT=$root/build/bin/weft WEFT_OPERATOR=$root/build/bin/weft-operator WEFT_SOURCE_DIR=$root
  stage 'Ranks and faults on real nodes'
  WEFT_JUDGE_TIMES=1 bash tests/e2e/ground.sh
  stage 'On kubelets and servers of the newest Kubernetes'
  WEFT_KUBERNETES=1.37 WEFT_NODES=2 WEFT_GROUND="ranks/custom_ranks.py
    ranks/torch_ranks.py:TorchRanks.test_c10d $containers_that_fail" bash tests/e2e/ground.sh
  stage 'On cgroups of version 2, in a kernel that is a program'
  if command -v linux.uml >/dev/null && command -v modprobe >/dev/null; then
    WEFT_NODES=2 WEFT_READY_SECONDS=900 WEFT_GROUND="ranks/custom_ranks.py $containers_that_fail" \
      tests/ground/cgroup2.sh bash tests/e2e/ground.sh
  else
    cannot_run 'real nodes on cgroup v2: install user-mode-linux and kmod'
  fi
  stage 'The first day'
  bash tests/ground/first_day.sh
}

campaign_ranks() {
  stage 'Building the Kubernetes control plane, unless it is in the cache'
  build_control_plane
  stage 'Building weft and weft-operator'
  build_main weft weft-operator
  stage 'Ranks as real processes'
  WEFT=$root/build/bin/weft WEFT_OPERATOR=$root/build/bin/weft-operator WEFT_SOURCE_DIR=$root \
    bash tests/e2e/ranks.sh
}

campaign_cluster() {
  stage 'Building the Kubernetes control planes, unless they are in the cache'
  build_control_plane 1.37
  stage 'Building weft-operator and the benchmarks'
  build_main
  stage 'Hand-off to kube-scheduler'
  tests/bench/handoff.sh
  stage 'PodGroups against pins alone, and preemption'
  tests/bench/pod_groups.sh
  stage 'First copy of a cluster from a real API server'
  tests/bench/sync.sh
  stage 'Scrapes, calls and the page beside the placing of jobs'
  tests/bench/contention.sh
}

campaign_full-size() {
  stage 'Building the Kubernetes control plane, unless it is in the cache'
  build_control_plane
  stage 'Building weft and weft-operator'
  build_main weft weft-operator
  stage 'One very large job through its life'
  tests/bench/full_size.sh --refuse
}

campaign_versions() {
  stage 'Building the Kubernetes control plane, unless it is in the cache'
  build_control_plane
  stage 'Building weft and weft-operator'
  build_main weft weft-operator
  stage 'Emulated releases; then weft-operator and the one of an earlier commit, in turns'
  WEFT=$root/build/bin/weft WEFT_OPERATOR=$root/build/bin/weft-operator WEFT_SOURCE_DIR=$root \
    bash tests/e2e/versions_campaign.sh
}

campaign_kueue() {
  stage 'Building the Kubernetes control plane, unless it is in the cache'
  build_control_plane
  stage 'Building weft, weft-operator and kueue-faithful'
  build_main weft weft-operator kueue-faithful
  stage 'The model of Kueue in the world against its manager'
  tests/world/kueue_faithful_test.sh
  stage 'Jobs in queues of Kueue, and kills'
  WEFT=$root/build/bin/weft WEFT_OPERATOR=$root/build/bin/weft-operator WEFT_SOURCE_DIR=$root \
    bash tests/e2e/kueue_campaign.sh
  stage 'How fast Weft answers Kueue on 10,000 nodes'
  tests/bench/admission.sh
}

campaign_mutants() {
  stage 'Mutants of the modules that decide, in build-mutants/'
  python3 tests/mutants/mutants.py --jobs "$jobs" "$@"
}

campaign_lint() {
  local format=clang-format-14 tidy=run-clang-tidy-14
  command -v $format $tidy >/dev/null ||
    { echo 'lint needs the packages clang-format-14 and clang-tidy-14' >&2; exit 1; }
  stage 'clang-format'
  git ls-files '*.h' '*.cc' | xargs $format --dry-run -Werror
  stage 'Compiling each file alone, which finds missing includes'
  cmake -S . -B build-lint -G Ninja -DWEFT_ALONE=ON >/dev/null
  ninja -C build-lint -j "$jobs"
  stage 'clang-tidy'
  $tidy -quiet -p build-lint -j "$jobs" "$root/${1:-operator}/.*\.cc"
}

case ${1:-} in
  '') ;;
  -h | --help)
    usage
    exit 0
    ;;
  --fast)
    [ $# = 1 ] || { usage >&2; exit 2; }
    ;;
  --campaign)
    case ${2:-} in
      quality | fuzz | bench | cluster | full-size | operator | faults | ranks | versions | kueue | \
        ground | world | mutants | lint) ;;
      *)
        echo "tests/run.sh: no campaign '${2:-}'; known: quality, fuzz, bench, cluster," \
          "full-size, operator, faults, ranks, versions, kueue, ground, world, mutants, lint" >&2
        exit 2
        ;;
    esac
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

stage 'Looking for missing packages'
deploy/dependencies.sh test
if [ "${1:-}" = --campaign ]; then
  "campaign_$2" "${@:3}"
  stage ''
elif [ "${1:-}" = --fast ]; then
  run_fast
else
  run_everything
fi

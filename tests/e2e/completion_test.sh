#!/usr/bin/env bash
# The completion scripts load, and complete commands and options as far as the line has come.
source "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
  expect_exit 0 "$WEFT" completion $shell
  expect_text "$work/stdout" '__complete'
  expect_empty "$work/stderr"
  mv "$work/stdout" "$work/weft.$shell"
done
expect_exit 0 bash -n "$work/weft.bash"
for shell in zsh fish; do
  if command -v $shell >/dev/null; then
    expect_exit 0 $shell -n "$work/weft.$shell"
  else
    echo "NOT TESTED: whether $shell reads its completion, for want of $shell" >&2
  fi
done

# completes 'WORDS' 'ANSWER': the last of the words is the one being typed. The words pass through
# the function that bash itself calls.
cat >"$work/complete.bash" <<'BASH'
set -u
source "$1"
shift
complete -p weft kubectl-weft >/dev/null
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_weft
echo "${COMPREPLY[@]-}"
BASH
mkdir "$work/bin"
ln -s "$WEFT" "$work/bin/weft"
ln -s "$WEFT" "$work/bin/kubectl-weft"
export PATH=$work/bin:$PATH # the script asks the program that is being typed
completes() {
  local words
  IFS='|' read -ra words <<<"$1|"
  expect_exit 0 bash "$work/complete.bash" "$work/weft.bash" "${words[@]}"
  expect_empty "$work/stderr"
  echo "$2" >"$work/wanted"
  expect_same "$work/stdout" "$work/wanted"
}

completes 'weft|fabric|g' 'generate'
completes 'kubectl-weft|fabric|g' 'generate'
completes 'weft|pl' 'plan'
completes 'weft|fabric|sh' 'show'
completes 'weft|plan|--tim' '--timings'
completes 'weft|plan|--timings|--comp' '--compare'
completes 'weft|fabric|generate|--frag' '--fragmented'
completes 'weft|audit|--out' '--output'
completes 'weft|no-such' ''
completes 'weft|plan|-o|j' 'json'
completes 'weft|plan|--output|=|j' 'json'
completes 'weft|fabric|generate|--design|gb' 'gb200-nvl72'
completes 'weft|completion|f' 'fish'

# kubectl asks a program of this name, as it asks Cobra's.
expect_exit 0 "$WEFT" completion kubectl
cp "$work/stdout" "$work/kubectl_complete-weft"
chmod +x "$work/kubectl_complete-weft"
candidates() { expect_exit 0 "$work/kubectl_complete-weft" "$@"; }
candidates ''
expect_text "$work/stdout" 'top'
expect_no_text "$work/stdout" '--'
candidates fabric sh
printf 'show\n:0\n' >"$work/wanted"
expect_same "$work/stdout" "$work/wanted"
candidates top -n team-a --wa
printf -- '--watch\n:0\n' >"$work/wanted"
expect_same "$work/stdout" "$work/wanted"

# Each command of --help completes to itself, and each of its options is offered.
expect_exit 0 "$WEFT" --help
commands=$(awk '/^[A-Z].*:$/ {on = !/^(Options|Examples|Exit codes):/} on && /^  [a-z]/ {print $1}' "$work/stdout")
[ "$(wc -w <<<"$commands")" -ge 8 ] || fail "few commands: $commands"
for command in $commands; do
  completes "weft|$command" "$command"
  expect_exit 0 "$WEFT" "$command" --help
  # "  -o, --output FORM" or "      --compare"; text stands further in.
  for option in $(sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' "$work/stdout"); do
    expect_exit 0 bash "$work/complete.bash" "$work/weft.bash" weft "$command" "$option"
    expect_text "$work/stdout" "$option"
  done
done

passed

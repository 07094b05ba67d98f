#!/usr/bin/env bash
# Measures how long `ephost list --probe` takes for many plugins: the minimal provider of the SDK under as many names,
# run in worker processes, in sandboxes, in the command's own process, and known from records. Prints the median of
# each over several rounds, taken in turns, their spread, and the ratio to the command's own process; and, as the floor
# of all, `ephost list`. Run it on an otherwise idle machine.
#   scripts/bench_probe.sh [PLUGINS [ROUNDS]]   100 plugins, 7 rounds
# BUILD=FOLDER takes the programs of a build folder as they are; otherwise the release preset is built.
set -euo pipefail
cd "$(dirname "$0")/.."
plugins=${1:-100}
rounds=${2:-7}
if [ -z "${BUILD:-}" ]; then
  scripts/setup.sh
  cmake --preset release
  cmake --build --preset release --target ephost ephost_worker_main
  BUILD=build/release
fi
ephost=$(realpath "$BUILD/bin/ephost")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
platform="$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)"
for ((i = 0; i < plugins; ++i)); do
  folder=$work/plugins/minimal_$i
  mkdir -p "$folder"
  sed -e "s/MinimalExecutionProvider/Minimal${i}ExecutionProvider/g" -e "s/\"minimal\"/\"minimal_$i\"/g" \
    plugin_sdk/examples/minimal_provider.c > "$folder/minimal_provider.c"
  sed -e "s/MinimalExecutionProvider/Minimal${i}ExecutionProvider/g" -e "s/^name: .*/name: minimal_$i/" \
    -e "s/libminimal_provider.so/libminimal_$i.so/" plugin_sdk/examples/minimal.yaml > "$folder/minimal_$i.yaml"
  cc -shared -fPIC -O1 -Iplugin_sdk/include -o "$folder/libminimal_$i.so" "$folder/minimal_provider.c"
  rm "$folder/minimal_provider.c"
done
sleep 3  # files that have just been made are not recorded

# `list` of these plugins alone, with arguments; prints the seconds that it took.
export HOME="$work" XDG_DATA_DIRS="$work" XDG_CACHE_HOME="$work/cache" XDG_STATE_HOME="$work/state"
unset EPHOST_ISOLATION EPHOST_PLUGIN_PATH
paths=()
for ((i = 0; i < plugins; ++i)); do paths+=(--plugin-path "$work/plugins/minimal_$i"); done
timed() {
  local began=$EPOCHREALTIME
  "$ephost" list "${paths[@]}" "$@" --format json > "$work/report.json"
  local ended=$EPOCHREALTIME
  local working
  working=$(grep -Eo '"works": ?true' "$work/report.json" | wc -l) || true
  if [[ " $* " == *" --probe "* ]] && [ "$working" -lt "$plugins" ]; then
    echo "bench_probe: only $working of $plugins plugins work with $*" >&2
    exit 1
  fi
  awk -v began="$began" -v ended="$ended" 'BEGIN { printf "%.4f\n", ended - began }'
}

names=(list "own process" worker sandbox recorded)
arguments=("" "--probe --isolation none" "--probe --refresh" "--probe --refresh --isolation sandbox" "--probe")
for ((round = 0; round < rounds; ++round)); do
  for k in "${!names[@]}"; do
    # shellcheck disable=SC2086
    timed ${arguments[$k]} >> "$work/times.$k"
  done
done
load=$(cut -d' ' -f1-3 /proc/loadavg)
printf '%s plugins, %s rounds, %s processors, load %s\n' "$plugins" "$rounds" "$(nproc)" "$load"
printf '%-12s %10s %10s %10s %10s\n' "" "median s" "least s" "most s" "ratio"
own=$(sort -n "$work/times.1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }')
for k in "${!names[@]}"; do
  sort -n "$work/times.$k" | awk -v name="${names[$k]}" -v own="$own" '
    { t[NR] = $1 }
    END { m = t[int((NR + 1) / 2)]; printf "%-12s %10.3f %10.3f %10.3f %10.2f\n", name, m, t[1], t[NR], m / own }'
done

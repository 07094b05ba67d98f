#!/usr/bin/env bash
# Shows ephost at work: sets up, builds, makes a sample model, compiles it over two providers to a
# context model, loads that and runs it.
#   scripts/run.sh [model]        a name of scripts/make_models.py --list; default tiny_quick
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:-tiny_quick}

scripts/setup.sh --build
cmake --preset quick
cmake --build --preset quick
/usr/bin/python3 scripts/make_models.py models "$name"

ephost=build/quick/bin/ephost
model=models/$name/model.onnx
context=models/$name/model_ctx.onnx
say() { printf '\n== %s\n\n' "$*"; }

say "Installed providers"
"$ephost" list
say "Which provider takes which node of $model (dnnl first, the CPU provider takes the rest)"
"$ephost" partition "$model" --ep dnnl
say "The plan: peak memory against the lower bound"
"$ephost" plan "$model" --ep dnnl | tail -n 8
say "Compile to a context model"
"$ephost" compile "$model" --ep dnnl -o "$context"
say "What the context model holds"
"$ephost" verify "$context"
say "The context model gives the expected outputs"
"$ephost" test "models/$name" --ep dnnl
"$ephost" run "$context" --ep dnnl
say "Cold start against cached start"
"$ephost" bench "$model" --ep dnnl --compare-context

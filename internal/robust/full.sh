#!/usr/bin/env bash
# The long form of the robustness tests, with its figures: fifty kills, full
# disks, ten thousand objects. It takes half an hour on two cores, and mounts
# small file systems where it is root. Arguments go to go test (-run TestKill).
set -euo pipefail
cd "$(dirname "$0")"
KAPI_ROBUST=full go test -count=1 -v -timeout 3h "$@" . |
  grep --line-buffered -vE '^=== (RUN|PAUSE|CONT)'

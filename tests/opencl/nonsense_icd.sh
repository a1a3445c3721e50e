#!/bin/sh
# nonsense_icd.sh: a driver whose answers cannot be, no driver, no loader: absent, with the reason.
#   nonsense_icd.sh VYRE VENDORS
set -eu
vyre=$1
vendors=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() { # name, pattern; the environment is the caller's
    "$vyre" devices --json >"$scratch/out"
    jq -e --arg text "$2" '.backends[] | select(.name == "opencl") | (.present | not)
        and (.reason | contains($text))' "$scratch/out" >/dev/null || {
        echo "$1: not absent for the reason \"$2\":" >&2
        cat "$scratch/out" >&2
        exit 1
    }
}

export OCL_ICD_VENDORS="$vendors"
check nonsense "none has a usable device"
mkdir "$scratch/none"
export OCL_ICD_VENDORS="$scratch/none"
check nobody "no platform"

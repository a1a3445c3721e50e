#!/bin/sh
# absent.sh: without an OpenCL loader, without a driver, or with a driver that is broken or lies, the
# tool lists the OpenCL backend as absent with a reason, or lists what is left; it never crashes.
#   $1  the vyre binary
#   $2  the source directory
#   $3  the folder with the fake driver's .icd file
set -u
vendors=${3:?usage: absent.sh VYRE SOURCE_DIR VENDORS}
set -- "$1" "$2"
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$2/tests/cli/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../cli/workload_lib.sh
. "$2/tests/cli/workload_lib.sh"

# devices WHAT ASSIGNMENT...: lists the devices with these in the environment; at most 20 seconds.
devices() {
    what=$1
    shift
    run "$what" 0 timeout 20 env "$@" "$vyre" devices --json
    json "$what: the CPU" '.backends[] | select(.name == "cpu") | .present'
}

# absent WHAT ASSIGNMENT...: and OpenCL is absent, with a reason.
absent() {
    devices "$@"
    json "$1: absent" '.backends[] | select(.name == "opencl") | .present == false
        and (.reason | length) > 0 and .devices == []'
    what=$1
    shift
    run "$what, for people" 0 timeout 20 env "$@" "$vyre" devices
    grep -q '^opencl: absent: .' "$scratch/out" || fail "$what: not listed as absent, with why"
    run "$what, asked for" 77 timeout 20 env "$@" "$vyre" run --backend opencl \
        "$scratch/work.json"
}

build_kernels
workload work.json add 1 1

# ---- no loader: a file that is found first and is no library
mkdir "$scratch/empty" "$scratch/text" "$scratch/strange"
: >"$scratch/empty/libOpenCL.so.1"
# longer than the header of a library, so that it is read
printf '%0200d\n' 0 >"$scratch/text/libOpenCL.so.1"
printf 'int vyre_test_nothing;\n' >"$scratch/strange.c"
${CC:-cc} -shared -fPIC "$scratch/strange.c" -o "$scratch/strange/libOpenCL.so.1" ||
    fail "the library without symbols does not compile"
absent "an empty loader" LD_LIBRARY_PATH="$scratch/empty"
absent "a loader that is text" LD_LIBRARY_PATH="$scratch/text"
absent "a loader without symbols" LD_LIBRARY_PATH="$scratch/strange"

# ---- no driver
mkdir "$scratch/none"
absent "vendors nowhere" OCL_ICD_VENDORS=/nonexistent
absent "an empty folder of vendors" OCL_ICD_VENDORS="$scratch/none"

# ---- drivers that cannot be loaded
mkdir "$scratch/missing" "$scratch/broken" "$scratch/hollow"
echo /nonexistent/libdriver.so >"$scratch/missing/missing.icd"
echo "$scratch/text/libOpenCL.so.1" >"$scratch/broken/broken.icd"
echo "$scratch/strange/libOpenCL.so.1" >"$scratch/hollow/hollow.icd"
absent "a driver that is not there" OCL_ICD_VENDORS="$scratch/missing"
absent "a driver that is text" OCL_ICD_VENDORS="$scratch/broken"
absent "a driver without symbols" OCL_ICD_VENDORS="$scratch/hollow"

# ---- the same driver when it behaves: what follows is due to its words, not to the driver
devices "the fake driver" OCL_ICD_VENDORS="$vendors" FAKE_ICD=ok
json "the fake driver: there" '.backends[] | select(.name == "opencl") | .present
    and (.devices | length) == 1 and .devices[0].name == "Fake device"'

# ---- a driver without anything to offer
for word in no-platforms no-devices zero-devices; do
    absent "$word" OCL_ICD_VENDORS="$vendors" FAKE_ICD=$word
done

# ---- drivers that lie: absent, or there with a reason or with sane texts, but never a crash
for word in size-zero size-huge size-grows size-odd unterminated info-fails null-name many-devices \
    size-zero,on-platform size-huge,on-platform size-grows,on-platform null-devices context-fails queue-fails buffer-fails svm; do
    devices "$word" OCL_ICD_VENDORS="$vendors" FAKE_ICD=$word
    json "$word: listed" '.backends[] | select(.name == "opencl")
        | if .present then (.devices | length) > 0
            and all(.devices[]; (.name | length) < 128)
          else (.reason | length) > 0 and .devices == [] end'
    run "$word, for people" 0 timeout 20 env OCL_ICD_VENDORS="$vendors" FAKE_ICD=$word \
        "$vyre" devices
done
finish

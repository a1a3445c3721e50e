#!/bin/sh
# absent.sh: without an OpenCL loader, without a driver, or with a driver that is broken or lies, the
# tool lists the OpenCL backend as absent with a reason, or lists what is left; it never crashes.
#   $1  the vyre binary
#   $2  the source directory
#   $3  the folder with the fake driver's .icd file
set -u
vendors=${3:?usage: absent.sh VYRE SOURCE_DIR VENDORS}
set -- "$1" "$2"
# Used by the library.
# shellcheck disable=SC2034
backend=opencl loader=libOpenCL.so.1
# shellcheck source-path=SCRIPTDIR source=../support/absent_lib.sh
. "$2/tests/support/absent_lib.sh"

absent_without_loader

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
    run "$word, for people" 0 timeout 120 env OCL_ICD_VENDORS="$vendors" FAKE_ICD=$word \
        "$vyre" devices
done
finish

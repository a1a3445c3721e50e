#!/bin/sh
# words.sh SOURCE_DIR: pages, comments and messages use the common word.
#
# These words make a sentence stilted; CONTRIBUTING.md has the rule. A line may quote one in backticks. CHANGELOG.md
# is history, the inputs of fuzzers are data.
set -eu
cd "$1"
words='whoever|dearer|dearest|nobody|somebody|(is|are|was|were|be) told|gives way|cannot be had|but for (the|those)|(nothing|anything|everything|none|all) but|lost but|whilst|thereof'

if [ -e .git ]; then
    git ls-files -co --exclude-standard
else
    find . -type f | sed 's#^\./##'
fi >"${list:=$(mktemp)}"
trap 'rm -f "$list"' EXIT
found=$(grep -E '\.(md|[ch]|sh|py|def|cmake|cl|comp|js|html|[1-9])$|(^|/)(CMakeLists\.txt|Makefile)$|^scripts/' "$list" |
    grep -vE '^(build/|CHANGELOG\.md$|tests/fuzz/corpus/|tests/checks/words)' | tr '\n' '\0' |
    xargs -0 -r grep -niwHE "$words" /dev/null | sed 's/`[^`]*`//g' | grep -iwE "$words" || :)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    echo "words: say it as a good technical writer would" >&2
    exit 1
fi

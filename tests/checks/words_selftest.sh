#!/bin/sh
# words_selftest.sh WORDS_SH: the check passes plain sentences and fails on stilted ones.
. "${0%/*}/selftest.sh"
check=$1

# expect_text pass|fail FILE TEXT
expect_text() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/docs"
    printf '%s\n' "$3" >"$work/tree/$2"
    expect "$1" "$2: $3" sh "$check" "$work/tree"
}

expect_text pass docs/a.md 'A slower mode is dropped, and the caller gets the reason.'
expect_text pass docs/a.md 'The reason `dearer-measured` of old records.'
expect_text fail docs/a.md 'A dearer mode is dropped.'
expect_text fail docs/a.md 'Whoever waits is told.'
expect_text fail a.c '/* Nobody reads this. */'
expect_text fail a.h '/* The runtime is told when it ends. */'
expect_text fail docs/a.md 'It costs nothing but time.'
expect_text fail a.c '/* Everything but batches. */'
expect_text pass docs/a.md 'It changes nothing, but takes time.'
expect_text pass CHANGELOG.md 'The dearer mode.'
expect_text pass a.png 'nobody'
finish

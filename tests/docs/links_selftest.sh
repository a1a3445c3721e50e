#!/bin/sh
# links_selftest.sh LINKS_PY: the check passes good pages and fails on each kind of stale name.
. "${0%/*}/../checks/selftest.sh"
check=$1
tree=$work/tree
mkdir -p "$tree/src/a" "$tree/docs" "$tree/include/vyre" "$tree/build"
touch "$tree/src/a/one.c" "$tree/include/vyre/a.h" "$tree/build/made.md"
printf '# Other page\n\n## Two `words`, and more!\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n' >"$tree/docs/other.md"
printf 'unit/a/one\nfuzz/replay-csv\n' >"$work/tests"

# expect_line pass|fail LINE: with LINE in docs/page.md.
expect_line() {
    printf '# Page\n\n%s\n' "$2" >"$tree/docs/page.md"
    expect "$1" "$2" python3 "$check" "$tree" "$work/tests"
}

expect_line pass 'Nothing at all.'
expect_line pass '[a](other.md), [b](../src/a/one.c), [c](../src/a), [d](https://example.org/x.md)'
expect_line pass '[a](other.md#two-words-and-more), [b](#page), [c](other.md#twice-1)'
expect_line pass '[`code`](other.md) ![image](other.md)'
expect_line pass '`src/a/one.c`, `src/<name>/one.c`, `src/*/one.c`, `src/a/`, `src/NAME`, `docs`'
expect_line pass '`unit/a/one`, `unit/...`, `fuzz/replay-...`, `vyre/a.h`, `one.c`, `a/`'
expect_line pass '`not/a/path`, `build/dev/bin/vyre`, `1/2`, `[x](nowhere.md)`'
expect_line fail '[a](nowhere.md)'
expect_line fail '[a](other.md#nowhere)'
expect_line fail '[a](other.md#no-heading)'
expect_line fail '[a](other.md#twice-2)'
expect_line fail '[a](#nowhere)'
expect_line fail '[a](../../outside.md)'
expect_line fail '![image](nowhere.png)'
expect_line fail '<img src="nowhere.png">'
expect_line fail '[a]: nowhere.md'
expect_line fail '`src/a/two.c`'
expect_line fail '`src/b/`'
expect_line fail '`src/*/two.c`'
expect_line fail '`unit/a/two`'
expect_line fail '`vyre/b.h`'
expect_line fail '`two.c`'
expect_line fail '`b/`'
expect_line pass '```
[a](nowhere.md) `src/a/two.c`
```'
rm "$tree"/docs/*
expect fail "no pages" python3 "$check" "$tree" "$work/tests"
finish

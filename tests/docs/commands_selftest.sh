#!/bin/sh
# commands_selftest.sh COMMANDS_PY BUILD_DIR: the check passes pages that are right and fails on each kind of stale one.
. "${0%/*}/../checks/selftest.sh"
check=$1
prefix=$work/prefix
DESTDIR= cmake --install "$2" --prefix "$prefix" >/dev/null
mkdir "$work/tree"

# expect_page pass|fail NAME TEXT: with TEXT as the page.
expect_page() {
    printf '%s\n' "$3" >"$work/tree/page.md"
    expect "$1" "$2" python3 "$check" "$prefix" "$work/tree" page.md
}

# expect_block pass|fail NAME LINES: with LINES in a fenced block.
expect_block() {
    expect_page "$1" "$2" "Text.

\`\`\`
$3
\`\`\`"
}

expect_block pass "what is printed" '$ echo hello; echo "other   line"
hello
...
other line'
expect_block fail "what is not printed" '$ echo hello
hallo'
expect_block fail "a heading that changed" '$ printf "mode  per batch\nplain 7 us\n"
mode  per round
plain 9 us'
expect_block pass "figures that differ" '$ printf "mode  per batch\nplain 7 us\n"
mode per batch
plain 9 us'
expect_block fail "a command that fails" '$ echo hello; exit 3
hello'
expect_block fail "a command that is not there" '$ vyre-is-not-called-so'
expect_block pass "an exit code that is shown" '$ exit 3
$ echo $?
3'
expect_block fail "another exit code than is shown" '$ exit 3
$ echo $?
2'
expect_block pass "an error that is shown" '$ vyre devices --no-such-option
vyre: error[cli-unknown-option]: 1
...'
expect_block fail "an error that is not one" '$ echo "error[a]"
error[a]'
expect_block fail "the second of two commands" '$ echo hello
hello
$ echo hello
hallo'
expect_block pass "a command in what a command prints" '$ printf "\044 echo a\nb\n"
$ echo a
b'
expect_block pass "the rest after a command that is not run" '$ true
$ make test
never printed'
expect_block pass "a home of its own" '$ case $HOME,$XDG_CACHE_HOME in */page0/home,*/page0/home/*) echo own ;; esac
own'
expect_page pass "a file that the page lets the reader write" 'Save it as `a.json`:

```json
{"a": "b"}
```

```
$ cat a.json
{"a": "b"}
```'
expect_page fail "a workload that is named by no command and wrong" 'Save it as `a.json`:

```json
{"vyre": 1}
```

```
$ echo hello
hello
```'
expect_page fail "no command" 'Nothing to run: `make`.'
finish

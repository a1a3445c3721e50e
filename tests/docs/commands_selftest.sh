#!/bin/sh
# commands_selftest.sh COMMANDS_PY BUILD_DIR: the check passes pages that are right and fails on each kind of stale one.
. "${0%/*}/../checks/selftest.sh"
check=$1
prefix=$work/prefix
DESTDIR= cmake --install "$2" --prefix "$prefix" >/dev/null
mkdir "$work/tree"

# expect_page pass|fail NAME TEXT [PAGE]: with TEXT as the page.
expect_page() {
    page=${4:-page.md}
    printf '%s\n' "$3" >"$work/tree/$page"
    expect "$1" "$2" python3 "$check" "$prefix" "$work/tree" "$page"
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
expect_block fail "a row with another word" '$ printf "mode  per batch\nplain 7 us\n"
mode per batch
replay 9 us'
expect_block pass "units, signs, padding and empty cells that differ" '$ printf "plain  7 us  +-3 %%   -\n1 round of 2,000\n"
plain 1.25 ms +-80 ns 4.00x
3 rounds of 7'
expect_block fail "a number where a word was" '$ printf "plain  7 us\n"
plain noisy'
expect_block pass "a sentence that breaks elsewhere" '$ printf "it takes 7\nus and no more\n"
it takes 12.5 us and
no more'
decide='$ vyre decide command-reuse repeat_count=2 per_launch_overhead_ns=9 record_overhead_ns=5 replay_overhead_ns=1'
expect_block pass "figures that must not differ" "$decide
record-and-replay:11"
expect_block fail "figures that must not differ, and do" "$decide
record-and-replay:12"
expect_block fail "a digest that differs" '$ printf "x 00000000000000000000000000000001\n"
x 00000000000000000000000000000002'
noise='the quartiles of the two overlap: the difference may be noise'
expect_block pass "what varies, of a command that another shows" "\$ printf '\\044 vyre compare a\\nplain 1 us\\n'
\$ vyre compare a
plain 1 us
$noise"
expect_block fail "the same of another command" "\$ printf '\\044 vyre devices\\nplain 1 us\\n'
\$ vyre devices
plain 1 us
$noise"
expect_block fail "what varies, in words that the tool does not use" "\$ printf '\\044 vyre compare a\\nplain 1 us\\n'
\$ vyre compare a
plain 1 us
$noise, probably"
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
vyre: error[cli-unknown-option]: devices has no option `--no-such-option`
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
mkdir -p "$work/tree/examples/hello"
printf '/*\n * A head.\n */\nint main(void) {}\n' >"$work/tree/examples/hello/hello.c"
command='```
$ true
```'
expect_page pass "a source that is quoted" "$command

\`\`\`c
int main(void) {}
\`\`\`" README.md
expect_page fail "a source that has changed" "$command

\`\`\`c
int main(void) { return 1; }
\`\`\`" README.md
expect_page fail "a source that is not quoted" "$command" README.md
expect_page pass "OpenCL C" '```c
kernel void f(global int *a) { *a = 1; }
```'
expect_page fail "OpenCL C that does not compile" '```c
kernel void f(global int *a) { *b = 1; }
```'
expect_page fail "a part of a program that is not known" '```c
int a = 1;
```'
expect_page fail "no command" 'Nothing to run: `make`.'
finish

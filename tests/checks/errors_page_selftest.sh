#!/bin/sh
# errors_page_selftest.sh ERRORS_PAGE_SH: the check passes the page that the program prints, and no other.
. "${0%/*}/selftest.sh"
check=$1
printf '#!/bin/sh\n[ "$1" = tool ] && printf "one\\ntwo\\n"\n' >"$work/program"
chmod +x "$work/program"

# expect_page pass|fail NAME TEXT: with TEXT (printf's escapes) as the page.
expect_page() {
    # The text is a format on purpose.
    # shellcheck disable=SC2059
    printf "$3" >"$work/page.md"
    expect "$1" "$2" sh "$check" "$work/program" tool "$work/page.md"
}

expect_page pass "the page" 'one\ntwo\n'
expect_page fail "a line that changed" 'one\nTwo\n'
expect_page fail "a line that is missing" 'one\n'
expect_page fail "a line too many" 'one\ntwo\nthree\n'
expect fail "a page that is not there" sh "$check" "$work/program" tool "$work/none.md"
expect fail "a program that fails" sh "$check" "$work/program" library "$work/page.md"
finish

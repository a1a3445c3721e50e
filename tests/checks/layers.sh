#!/bin/sh
# layers.sh SOURCE_DIR: each layer includes only those above it in the design's list.
#
#   include/vyre   <vyre/...> and the system
#   src/<layer>    these, and "<layer>/file.h" of its own layer and of those before it
#   cli            include/vyre, the system, and its own headers
#
# Prints every include that breaks the rule and fails if there is one.
set -eu
cd "$1"

find include/vyre src cli -name '*.[ch]' 2>/dev/null | LC_ALL=C sort | xargs awk '
BEGIN {
    count = split("base policy plan observe store spirv backend pipeline runtime", layers, " ")
    for (i = 1; i <= count; i++)
        rank[layers[i]] = i
}

function bad(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why
    failures++
}

FNR == 1 {
    files++
    parts = split(FILENAME, path, "/")
    place = path[1]                             # include, src or cli
    layer = place == "src" ? path[2] : ""
    if (place == "src" && (parts < 3 || !(layer in rank)))
        bad("the file is in no layer of the design")
}

/^[ \t]*#[ \t]*include/ {
    match($0, /include[ \t]*/)
    rest = substr($0, RSTART + RLENGTH)
    quote = substr(rest, 1, 1)
    name = substr(rest, 2)
    sub(/[">].*/, "", name)
    slash = index(name, "/")
    head = slash ? substr(name, 1, slash - 1) : ""

    if (quote != "\"" && quote != "<")
        bad("the name is not written out")
    else if (name ~ /(^|\/)\.\.?(\/|$)/)
        bad("the path goes through . or ..")
    else if (name ~ /\.c$/)
        bad("a .c file is included")
    else if (head == "vyre" && quote == "<")
        next                                    # the public API is above everything
    else if (head == "vyre")
        bad("public headers are included as <vyre/file.h>")
    else if (place == "include" && (quote == "\"" || head in rank))
        bad("a public header includes only public and system headers")
    else if (place == "cli" && quote == "\"") {
        file = "cli/" name
        if ((getline line < file) < 0)
            bad("the tool has no such header, and uses only include/vyre of the library")
        close(file)
    } else if (place == "cli" && head in rank)
        bad("the tool uses only include/vyre")
    else if (place == "src" && quote == "\"" && !(head in rank))
        bad("internal headers are included as \"layer/file.h\"")
    else if (place == "src" && head in rank && quote == "<")
        bad("internal headers are included with quotes")
    else if (place == "src" && head in rank && rank[head] > rank[layer])
        bad(layer " may not see " head)
}

END {
    if (files == 0) {
        print "layers: no source was found"
        exit 1
    }
    if (failures > 0) {
        printf "layers: %d wrong\n", failures
        exit 1
    }
}'

# Writes the page of `vyre report` into the C file OUTPUT as two arrays of bytes: the part before the data
# and the part after it.
#   cmake -DDIRECTORY=... -DOUTPUT=... -P embed_report.cmake
file(READ ${DIRECTORY}/report.html page)
file(READ ${DIRECTORY}/report.css css)
file(READ ${DIRECTORY}/report.js js)
string(FIND "${page}" "@CSS@" css_at)
string(FIND "${page}" "@DATA@" data_at)
string(FIND "${page}" "@JS@" js_at)
if(css_at LESS 0 OR data_at LESS css_at OR js_at LESS data_at)
  message(FATAL_ERROR "report.html lacks @CSS@, @DATA@ or @JS@, or has them in another order")
endif()

# Pieces are joined in files, so that CMake neither splits the text into lists nor unescapes it.
function(piece out begin end)
  if(end LESS 0)
    string(SUBSTRING "${page}" ${begin} -1 text)
  else()
    math(EXPR size "${end} - ${begin}")
    string(SUBSTRING "${page}" ${begin} ${size} text)
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
math(EXPR css_end "${css_at} + 5")
math(EXPR data_end "${data_at} + 6")
math(EXPR js_end "${js_at} + 4")
piece(first 0 ${css_at})
piece(second ${css_end} ${data_at})
piece(third ${data_end} ${js_at})
piece(fourth ${js_end} -1)
file(WRITE ${OUTPUT}.before "${first}${css}${second}")
file(WRITE ${OUTPUT}.after "${third}${js}${fourth}")

set(code "/* Generated from ${DIRECTORY}. */\n#include \"report/page.h\"\n")
foreach(part before after)
  file(READ ${OUTPUT}.${part} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)"
         "\\1\n" bytes "${bytes}")
  string(APPEND code "const unsigned char cli_report_${part}[] = {\n${bytes}};\n"
         "const size_t cli_report_${part}_size = sizeof cli_report_${part};\n")
  file(REMOVE ${OUTPUT}.${part})
endforeach()
file(WRITE ${OUTPUT} "${code}")

# Writes the .cl and .comp files of DIRECTORY into the header OUTPUT, as strings: NAME.cl is NAME_cl.
#   cmake -DDIRECTORY=... -DOUTPUT=... -P embed_payloads.cmake
file(GLOB paths ${DIRECTORY}/*.cl ${DIRECTORY}/*.comp)
set(header "/* Generated from ${DIRECTORY}. */\n")
foreach(path IN LISTS paths)
  get_filename_component(name ${path} NAME)
  string(REPLACE "." "_" name ${name})
  file(READ ${path} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND header "static const char ${name}[] =\n    \"${text}\";\n")
endforeach()
file(WRITE ${OUTPUT} "${header}")

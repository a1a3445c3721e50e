# Flags that every target of the project is built with.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(vyre_options INTERFACE)
target_compile_definitions(vyre_options INTERFACE _GNU_SOURCE)
target_compile_options(vyre_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror
  -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wcast-align -Wwrite-strings -Wundef -Wvla -Wformat=2
  -Wimplicit-fallthrough -Wswitch-enum
  # Results must not depend on whether a compiler fuses a multiply and an add.
  -ffp-contract=off)

if(VYRE_SANITIZE)
  add_compile_options(-fsanitize=${VYRE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VYRE_SANITIZE})
endif()
if(VYRE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

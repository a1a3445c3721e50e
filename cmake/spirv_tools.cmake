# Finds the libraries of the optional module libvyre-spirv-tools.so. VYRE_SPIRV_TOOLS is ON by default if
# all of them are found. If it is set to ON by hand, a missing library is an error.
#
# The static shaderc comes first, with the parts of glslang and SPIRV-Tools that it needs: Debian 12's
# libshaderc.so.1 lacks symbols of glslang and cannot be loaded.
find_path(SHADERC_INCLUDE_DIR shaderc/shaderc.h)
find_library(SHADERC_LIBRARY NAMES shaderc_combined shaderc_shared shaderc)
set(SHADERC_PARTS)
if(SHADERC_LIBRARY MATCHES "shaderc_combined")
  foreach(part glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler HLSL SPIRV
      SPIRV-Tools-opt)
    find_library(SHADERC_PART_${part} ${part})
    if(SHADERC_PART_${part}) # elsewhere they may be inside the combined library
      list(APPEND SHADERC_PARTS ${SHADERC_PART_${part}})
    endif()
  endforeach()
endif()
find_path(SPIRV_TOOLS_INCLUDE_DIR spirv-tools/libspirv.h)
find_library(SPIRV_TOOLS_LIBRARY SPIRV-Tools)
find_path(SPIRV_CROSS_INCLUDE_DIR spirv_cross_c.h PATH_SUFFIXES spirv_cross)
find_library(SPIRV_CROSS_LIBRARY spirv-cross-c-shared)

set(spirv_tools_missing)
foreach(part SHADERC SPIRV_TOOLS SPIRV_CROSS)
  if(NOT ${part}_INCLUDE_DIR OR NOT ${part}_LIBRARY)
    list(APPEND spirv_tools_missing ${part})
  endif()
endforeach()
if(spirv_tools_missing)
  set(spirv_tools_default OFF)
else()
  set(spirv_tools_default ON)
endif()
option(VYRE_SPIRV_TOOLS "Build the module for GLSL and for the validation of SPIR-V"
       ${spirv_tools_default})
if(VYRE_SPIRV_TOOLS AND spirv_tools_missing)
  message(FATAL_ERROR "libvyre-spirv-tools.so needs libraries that are not found: ${spirv_tools_missing}. On "
    "Debian: libshaderc-dev spirv-tools libspirv-cross-c-shared-dev; or -DVYRE_SPIRV_TOOLS=OFF")
elseif(spirv_tools_missing)
  message(STATUS "libvyre-spirv-tools.so is not built, because these are not found: ${spirv_tools_missing}. "
    "GLSL is not supported, and SPIR-V is not validated")
elseif(NOT VYRE_SPIRV_TOOLS)
  message(STATUS "libvyre-spirv-tools.so is switched off: GLSL is not supported, and SPIR-V is not validated")
endif()

# Drivers that are broken, for VK_ICD_FILENAMES: see broken_icd/broken_icd.c.
find_path(VYRE_TEST_VULKAN_INCLUDE vulkan/vk_layer.h REQUIRED)
set(VYRE_BROKEN_ICDS ${PROJECT_BINARY_DIR}/tests/vulkan/broken_icd)
add_custom_target(vyre_broken_icds ALL)
foreach(kind hollow refuses fails empty lists_nothing)
  string(TOUPPER ${kind} value)
  add_library(vyre_broken_${kind} MODULE ${CMAKE_CURRENT_LIST_DIR}/broken_icd/broken_icd.c)
  target_compile_definitions(vyre_broken_${kind} PRIVATE BROKEN=BROKEN_${value})
  target_include_directories(vyre_broken_${kind} SYSTEM PRIVATE ${VYRE_TEST_VULKAN_INCLUDE})
  target_link_libraries(vyre_broken_${kind} PRIVATE vyre_options)
  set_target_properties(vyre_broken_${kind} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${VYRE_BROKEN_ICDS})
  add_dependencies(vyre_broken_icds vyre_broken_${kind})
endforeach()
foreach(file missing.json text.json hollow.json refuses.json fails.json empty.json
    lists_nothing.json malformed.json broken_text.so)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/broken_icd/${file} ${VYRE_BROKEN_ICDS}/${file} COPYONLY)
endforeach()

if(VYRE_BUILD_CLI AND NOT tsan) # shell and loader: nothing of ours races
  add_test(NAME vulkan/absent
    COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/absent.sh $<TARGET_FILE:vyre_cli> ${PROJECT_SOURCE_DIR}
            ${VYRE_BROKEN_ICDS})
endif()

# A driver that misbehaves on demand, and the tests that need only this driver. For tests/opencl/
# CMakeLists.txt to include; the tests of the backend itself use VYRE_FAKE_ICD_VENDORS, a folder for
# OCL_ICD_VENDORS, and depend on the target vyre_fake_icd. See fake_icd.c for its words.
find_path(VYRE_TEST_OPENCL_INCLUDE CL/cl_icd.h REQUIRED)
find_package(Threads REQUIRED)

add_library(vyre_fake_icd MODULE
  ${CMAKE_CURRENT_LIST_DIR}/fake_icd.c
  ${CMAKE_CURRENT_LIST_DIR}/fake_icd_commands.c
  ${CMAKE_CURRENT_LIST_DIR}/fake_icd_info.c)
target_include_directories(vyre_fake_icd PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_include_directories(vyre_fake_icd SYSTEM PRIVATE ${VYRE_TEST_OPENCL_INCLUDE})
target_link_libraries(vyre_fake_icd PRIVATE vyre_options Threads::Threads)
set_target_properties(vyre_fake_icd PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/opencl)

set(VYRE_FAKE_ICD_VENDORS ${PROJECT_BINARY_DIR}/tests/opencl/vendors)
file(GENERATE OUTPUT ${VYRE_FAKE_ICD_VENDORS}/fake.icd CONTENT "$<TARGET_FILE:vyre_fake_icd>\n")

add_executable(opencl_fake_icd_test ${CMAKE_CURRENT_LIST_DIR}/fake_icd_test.c)
target_include_directories(opencl_fake_icd_test PRIVATE
  ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/include ${CMOCKA_INCLUDE_DIR})
target_include_directories(opencl_fake_icd_test SYSTEM PRIVATE ${VYRE_TEST_OPENCL_INCLUDE})
target_link_libraries(opencl_fake_icd_test PRIVATE
  vyre_options ${CMOCKA_LIBRARY} ${CMAKE_DL_LIBS} Threads::Threads)
set_target_properties(opencl_fake_icd_test PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/opencl)
add_test(NAME opencl/fake-icd COMMAND opencl_fake_icd_test)
set_tests_properties(opencl/fake-icd PROPERTIES
  ENVIRONMENT OCL_ICD_VENDORS=${VYRE_FAKE_ICD_VENDORS})

if(VYRE_BUILD_CLI AND NOT tsan) # shell and loader: nothing of ours races
  add_test(NAME opencl/absent
    COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/absent.sh $<TARGET_FILE:vyre_cli> ${PROJECT_SOURCE_DIR}
            ${VYRE_FAKE_ICD_VENDORS})
endif()

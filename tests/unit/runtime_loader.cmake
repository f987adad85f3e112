# Tests of the part of the runtime that finds, checks and loads plugin libraries. The program they go into stands in
# ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}, links attnspan_runtime and depends on the target broken-plugins.
set(ATTNSPAN_LOADER_TESTS
  runtime_elf_test.cpp
  runtime_entry_test.cpp
  runtime_library_test.cpp
  runtime_nearest_test.cpp
  runtime_parameter_specs_test.cpp
  runtime_registry_test.cpp)
list(TRANSFORM ATTNSPAN_LOADER_TESTS PREPEND "${CMAKE_CURRENT_LIST_DIR}/")

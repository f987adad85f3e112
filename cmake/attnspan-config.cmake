# find_package(attnspan): the target attnspan::sdk (the headers, C++20) and the function attnspan_add_plugin, which
# builds into ATTNSPAN_PLUGIN_DIRECTORY (default: plugins in the build folder).
include("${CMAKE_CURRENT_LIST_DIR}/attnspan-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/plugin.cmake")
if(NOT DEFINED ATTNSPAN_PLUGIN_DIRECTORY)
  set(ATTNSPAN_PLUGIN_DIRECTORY "${CMAKE_BINARY_DIR}/plugins")
endif()

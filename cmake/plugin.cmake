# attnspan_add_plugin(<name> KIND <kind> SOURCES <file>... [LIBRARIES <target>...])
#
# A plugin library <kind>-<name>.so in ATTNSPAN_PLUGIN_DIRECTORY. It sees the SDK and the libraries named, exports its
# entry symbol and nothing else. The CMake target is called plugin-<kind>-<name>. This file serves the project's own
# plugins and, installed beside the package configuration, everybody else's.
function(attnspan_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "SOURCES;LIBRARIES")
  set(kinds target mode backend projection construction)
  if(NOT arg_KIND IN_LIST kinds)
    message(FATAL_ERROR "attnspan_add_plugin(${name}): KIND must be one of ${kinds}, not \"${arg_KIND}\"")
  endif()
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attnspan_add_plugin(${name} KIND kind SOURCES file... [LIBRARIES target...])")
  endif()
  set(target plugin-${arg_KIND}-${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE
    attnspan::sdk $<TARGET_NAME_IF_EXISTS:attnspan_options> attnspan::plugin_options ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE
    "LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map" "LINKER:--exclude-libs,ALL")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map")
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${arg_KIND}-${name} LIBRARY_OUTPUT_DIRECTORY "${ATTNSPAN_PLUGIN_DIRECTORY}"
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY ATTNSPAN_PLUGIN_TARGETS ${target})
endfunction()

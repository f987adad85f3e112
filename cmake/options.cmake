# What every target of the project is compiled and linked with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Compilers and library versions move installed folders about; what runs from the build tree finds its own.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_program(ATTNSPAN_CCACHE ccache)
if(ATTNSPAN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ATTNSPAN_CCACHE}")
endif()

# What plugins need outside this tree as well, so it is installed and exported with the SDK.
add_library(attnspan_plugin_options INTERFACE)
add_library(attnspan::plugin_options ALIAS attnspan_plugin_options)
# The same operations in the same order everywhere: no multiply-add that the source does not spell out.
target_compile_options(attnspan_plugin_options INTERFACE -ffp-contract=off)

add_library(attnspan_options INTERFACE)
target_link_libraries(attnspan_options INTERFACE attnspan_plugin_options)
target_compile_options(attnspan_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${ATTNSPAN_WERROR}>:-Werror>)
if(ATTNSPAN_SANITIZE)
  target_compile_options(attnspan_options INTERFACE -fsanitize=${ATTNSPAN_SANITIZE} -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer)
  target_link_options(attnspan_options INTERFACE -fsanitize=${ATTNSPAN_SANITIZE})
else()
  target_link_options(attnspan_plugin_options INTERFACE -Wl,-z,defs)
endif()
if(ATTNSPAN_COVERAGE)
  target_compile_options(attnspan_options INTERFACE --coverage -fprofile-update=atomic)
  target_compile_definitions(attnspan_options INTERFACE ATTNSPAN_COVERAGE)
  target_link_options(attnspan_options INTERFACE --coverage)
endif()

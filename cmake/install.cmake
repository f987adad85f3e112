# `cmake --install`: the program, its plugins and kernels, and what plugins outside this tree are built with. Needs the
# target app to be built, and nothing else: tests are never installed.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
include(CMakePackageConfigHelpers)

get_property(plugins GLOBAL PROPERTY ATTNSPAN_PLUGIN_TARGETS)
get_property(kernels GLOBAL PROPERTY ATTNSPAN_KERNEL_TARGETS)
set_target_properties(${plugins} PROPERTIES INSTALL_RPATH "$ORIGIN/../kernels")
install(TARGETS attnspan RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS ${plugins} LIBRARY DESTINATION "${ATTNSPAN_INSTALLED_LIBRARIES}/plugins")
install(TARGETS ${kernels} LIBRARY DESTINATION "${ATTNSPAN_INSTALLED_LIBRARIES}/kernels")

install(DIRECTORY "${CMAKE_BINARY_DIR}/share/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}")
foreach(script IN ITEMS
    "bash-completion/completions/attnspan" "zsh/vendor-completions/_attnspan" "fish/vendor_completions.d/attnspan.fish")
  get_filename_component(file "${script}" NAME)
  get_filename_component(folder "${script}" DIRECTORY)
  install(FILES "${CMAKE_BINARY_DIR}/share/completion/${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
endforeach()

# find_package(attnspan)
set(package "lib/cmake/attnspan")
set_target_properties(attnspan_sdk PROPERTIES EXPORT_NAME sdk)
set_target_properties(attnspan_plugin_options PROPERTIES EXPORT_NAME plugin_options)
install(DIRECTORY framework/sdk/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS attnspan_sdk attnspan_plugin_options EXPORT attnspan
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT attnspan NAMESPACE attnspan:: FILE attnspan-targets.cmake DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/attnspan-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES cmake/attnspan-config.cmake cmake/plugin.cmake cmake/plugin.map
              "${CMAKE_BINARY_DIR}/attnspan-config-version.cmake" DESTINATION "${package}")

# Laid out as in the source, so that links and paths in the documents hold.
install(FILES README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY configs docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")

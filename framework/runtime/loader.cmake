# The part of the runtime that finds, checks and loads plugin libraries.
set(ATTNSPAN_LOADER_SOURCES
  src/elf.cpp
  src/entry.cpp
  src/library.cpp
  src/nearest.cpp
  src/parameter_specs.cpp
  src/plugin_call.cpp
  src/registry.cpp
  src/search_path.cpp)

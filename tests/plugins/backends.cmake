add_executable(attnspan_test_backends
  "${CMAKE_CURRENT_LIST_DIR}/backend_products_test.cpp" "${CMAKE_CURRENT_LIST_DIR}/backend_factorizations_test.cpp"
  "${CMAKE_CURRENT_LIST_DIR}/backend_kernels_test.cpp")
target_link_libraries(attnspan_test_backends PRIVATE attnspan::dense attnspan_options doctest::doctest ${CMAKE_DL_LIBS})
target_compile_definitions(attnspan_test_backends PRIVATE
  PLUGIN_EIGEN="$<TARGET_FILE:plugin-backend-eigen>" PLUGIN_ARMADILLO="$<TARGET_FILE:plugin-backend-armadillo>")
add_dependencies(attnspan_test_backends plugin-backend-eigen plugin-backend-armadillo)
add_test(NAME plugins.backends COMMAND attnspan_test_backends)

# Without optimisation Eigen's constants become static initialisers; what is shipped is optimised.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(variant IN ITEMS sse2 avx2 avx512 generic)
    if(TARGET attnspan_dense_${variant})
      add_test(NAME plugins.kernel_isolation.${variant}
        COMMAND "${CMAKE_COMMAND}" -D "NM=${CMAKE_NM}" -D "LIBRARY=$<TARGET_FILE:attnspan_dense_${variant}>"
                -D EXPORT=attnspan_dense_${variant} -P "${CMAKE_CURRENT_LIST_DIR}/kernel_isolation.cmake")
    endif()
  endforeach()
endif()

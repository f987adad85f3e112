#pragma once

#include <cstdint>

namespace attnspan {

/// Version of these headers. A plugin must be built with the same one as the host that loads it.
inline constexpr char sdk_version[] = "0.1.0";

/// Layout of the plugin entry (see plugin.hpp). Raised whenever a field of the entry changes its place or meaning.
inline constexpr std::uint32_t sdk_abi = 1;

#define ATTNSPAN_DETAIL_TEXT2(x) #x
#define ATTNSPAN_DETAIL_TEXT(x) ATTNSPAN_DETAIL_TEXT2(x)

/// What must be equal on both sides of the plugin boundary before C++ objects may cross it: the C++ ABI, the standard
/// library with its ABI switches, and the version of these headers.
inline constexpr char build_tag[] =
    "itanium-cxx"
#if defined(_GLIBCXX_RELEASE)
    "; libstdc++"
#if _GLIBCXX_USE_CXX11_ABI
    " cxx11"
#else
    " old-abi"
#endif
#if defined(_GLIBCXX_DEBUG)
    " debug"
#endif
#elif defined(_LIBCPP_VERSION)
    "; libc++ " ATTNSPAN_DETAIL_TEXT(_LIBCPP_ABI_VERSION)
#endif
#if defined(__SANITIZE_ADDRESS__)
    "; address-sanitizer"
#elif defined(__SANITIZE_THREAD__)
        "; thread-sanitizer"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    "; address-sanitizer"
#elif __has_feature(thread_sanitizer)
    "; thread-sanitizer"
#endif
#endif
    "; sdk 0.1.0";

#undef ATTNSPAN_DETAIL_TEXT
#undef ATTNSPAN_DETAIL_TEXT2

}  // namespace attnspan

#pragma once

#include <string_view>
#include <utility>

namespace attnspan::runtime {

/// Rethrows the exception being handled, which came out of a plugin, as an attnspan::Error of the host's own: an Error
/// keeps its kind and place, and where it blames a plugin its message begins with `plugin`; std::bad_alloc becomes
/// Error(resource); anything else Error(plugin) with its text. `doing` completes "threw ...".
[[noreturn]] void rethrow_from_plugin(std::string_view plugin, std::string_view doing);

/// Calls into a plugin go through here: returns what `call` returns, and nothing but an attnspan::Error comes out, as
/// rethrow_from_plugin says. `plugin` is how messages name it: Library::label().
template <class Call>
decltype(auto) guard_plugin_call(std::string_view plugin, Call&& call, std::string_view doing = {}) {
    try {
        return std::forward<Call>(call)();
    } catch (...) {
        rethrow_from_plugin(plugin, doing);
    }
}

}  // namespace attnspan::runtime

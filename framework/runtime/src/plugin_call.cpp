#include "attnspan/runtime/plugin_call.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>

#include "attnspan/error.hpp"

namespace attnspan::runtime {

void rethrow_from_plugin(std::string_view plugin, std::string_view doing) {
    const std::string threw = fmt::format("{}: threw{}{}", plugin, doing.empty() ? "" : " ", doing);
    try {
        throw;
    } catch (const Error& error) {
        // The constructor puts the place in front of the message once more.
        std::string message = error.what();
        if (const std::string place = error.where().str(); !place.empty()) {
            message.erase(0, place.size() + 2);
        }
        if (error.kind() == ErrorKind::plugin) {
            message = fmt::format("{}: {}", plugin, message);
        }
        throw Error(error.kind(), message, error.where());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::resource, threw + ": out of memory; use a smaller size or a machine with more memory");
    } catch (const std::exception& error) {
        throw Error(ErrorKind::plugin, fmt::format("{}: {}", threw, error.what()));
    } catch (...) {
        throw Error(ErrorKind::plugin, threw + ": something that is no std::exception");
    }
}

}  // namespace attnspan::runtime

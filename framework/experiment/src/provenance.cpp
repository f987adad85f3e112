#include "attnspan/experiment/provenance.hpp"

#include <sys/utsname.h>

#include <nlohmann/json.hpp>

#include "build_info.hpp"

namespace attnspan::experiment {

std::string version() {
    return build_version;
}
std::string commit() {
    return build_commit;
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

nlohmann::ordered_json provenance(const std::string& backend_plugin, const BackendInfo& backend, Index threads) {
    utsname system{};
    const bool known = uname(&system) == 0;
    return {{"version", version()},
            {"commit", commit()},
            {"compiler", compiler()},
            {"backend",
             {{"plugin", backend_plugin}, {"library", backend.library}, {"instruction_set", backend.instruction_set}}},
            {"threads", threads},
            {"host", known ? nlohmann::ordered_json{{"name", system.nodename},
                                                    {"system", std::string(system.sysname) + ' ' + system.release},
                                                    {"machine", system.machine}}
                           : nlohmann::ordered_json()}};
}

}  // namespace attnspan::experiment

#include <new>
#include <stdexcept>

#include "broken.hpp"

namespace {

/// Fails to be made in the way that the parameter `how` asks for.
std::unique_ptr<attnspan::Mode> make(const attnspan::Parameters& parameters) {
    const std::string& how = parameters.text("how");
    if (how == "exception") {
        throw std::out_of_range("index 7 of 3");
    }
    if (how == "integer") {
        throw 42;
    }
    if (how == "memory") {
        throw std::bad_alloc();
    }
    if (how == "refusal") {
        parameters.fail("how", "refused");
    }
    if (how == "contract") {
        static_cast<void>(parameters.integer("undeclared"));
    }
    return nullptr;
}

void register_plugin(attnspan::Registrar& registrar) {
    using namespace attnspan::parameter;
    registrar.add_mode({choice("how", {"exception", "integer", "memory", "refusal", "contract", "null"},
                               "the way in which it fails to be made")
                            .required()},
                       &make);
}

}  // namespace

constinit const attnspan::PluginEntry attnspan_plugin = broken::entry_registering("test.makers", &register_plugin);

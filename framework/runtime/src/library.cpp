#include "attnspan/runtime/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <span>
#include <string_view>
#include <vector>

#include "attnspan/runtime/parameter_specs.hpp"
#include "attnspan/runtime/plugin_call.hpp"

namespace attnspan::runtime {
namespace {

std::string label_of(const PluginInfo& info) {
    return fmt::format("{} plugin \"{}\" ({})", info.kind, info.name, info.file.string());
}

/// Notes what the register function does, for judgement afterwards.
class Recorder final : public Registrar {
public:
    void add_target(ParameterSpecs parameters, Make<Target> make) override {
        record("target", std::move(parameters), false, make);
    }
    void add_mode(ParameterSpecs parameters, Make<Mode> make) override {
        record("mode", std::move(parameters), false, make);
    }
    void add_backend(ParameterSpecs parameters, MakeBackend make) override {
        record("backend", std::move(parameters), false, make);
    }
    void add_projection(ParameterSpecs parameters, Make<Projection> make) override {
        record("projection", std::move(parameters), false, make);
    }
    void add_construction(ParameterSpecs parameters, bool uses_projection, Make<Construction> make) override {
        record("construction", std::move(parameters), uses_projection, make);
    }

    /// Why the plugin may not be used; empty when it may.
    [[nodiscard]] std::string problem(const std::string& kind) const {
        if (calls_.size() != 1) {
            return calls_.empty() ? fmt::format("registered nothing; expected one call of add_{}", kind)
                                  : fmt::format("registered {} times ({}); expected one call of add_{}", calls_.size(),
                                                fmt::join(calls_, ", "), kind);
        }
        if (calls_.front() != kind) {
            return fmt::format("registered a {}, but its entry says {}", calls_.front(), kind);
        }
        if (!has_maker_) {
            return "registered a null function to make its objects";
        }
        return specs_problem(registration.parameters, registration.uses_projection);
    }

    Registration registration;

private:
    template <class Make>
    void record(const char* kind, ParameterSpecs&& parameters, bool uses_projection, Make make) {
        calls_.emplace_back(kind);
        has_maker_ = make != nullptr;
        registration = {.parameters = std::move(parameters), .uses_projection = uses_projection, .make = make};
    }

    std::vector<std::string> calls_;
    bool has_maker_ = false;
};

/// @throws Error(plugin) with the text of the dynamic linker
boost::dll::shared_library open(const std::filesystem::path& file) {
    // Code must outlive everything that may still point into it, so closing the handle leaves it in memory.
    constexpr auto keep_loaded = static_cast<boost::dll::load_mode::type>(RTLD_NODELETE);
    boost::dll::fs::error_code error;
    boost::dll::shared_library handle(
        boost::dll::fs::path(file.native()), error,
        boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local | keep_loaded);
    if (error) {
        const char* const text = ::dlerror();
        throw Error(ErrorKind::plugin, "cannot be loaded: " + (text != nullptr ? std::string(text) : error.message()));
    }
    return handle;
}

}  // namespace

std::variant<std::shared_ptr<const Library>, LoadFailure> Library::load(const PluginInfo& info) {
    LoadFailure failure{.file = info.file, .stage = "load", .reason = {}, .name = info.name, .kind = info.kind};
    try {
        boost::dll::shared_library handle = open(info.file);
        if (!handle.has("attnspan_plugin")) {
            throw Error(ErrorKind::plugin, "lost its attnspan_plugin since it was found; start again");
        }
        const auto& entry = handle.get<const PluginEntry>("attnspan_plugin");
        if (parse_plugin_entry(std::as_bytes(std::span(&entry, 1)), info.file) != info) {
            throw Error(ErrorKind::plugin,
                        "says something else in memory than in its file, which must have changed "
                        "since it was found; start again");
        }

        failure.stage = "register";
        if (entry.register_plugin == nullptr) {
            throw Error(ErrorKind::plugin, "has no register function; use ATTNSPAN_PLUGIN to define the entry");
        }
        Recorder recorder;
        guard_plugin_call("its register function", [&] { entry.register_plugin(recorder); });
        if (const std::string problem = recorder.problem(info.kind); !problem.empty()) {
            throw Error(ErrorKind::plugin, problem);
        }
        return std::shared_ptr<const Library>(new Library(info, std::move(handle), std::move(recorder.registration)));
    } catch (const std::exception& error) {
        failure.reason = error.what();
    }
    return failure;
}

std::string Library::label() const {
    return label_of(info_);
}

template <class Kind, class Make, class... Arguments>
Product<Kind> Library::make(std::string_view kind, const Arguments&... arguments) const {
    const Make* const make = std::get_if<Make>(&registration_.make);
    if (make == nullptr) {
        throw Error(ErrorKind::plugin, fmt::format("{}: cannot make a {}", label(), kind));
    }
    std::unique_ptr<const Kind> object = guard_plugin_call(
        label(), [&] { return (*make)(arguments...); }, "while being made");
    if (!object) {
        throw Error(ErrorKind::plugin, fmt::format("{}: made nothing (a null pointer)", label()));
    }
    return {shared_from_this(), std::move(object)};
}

Product<Target> Library::make_target(const Parameters& parameters) const {
    return make<Target, Registrar::Make<Target>>("target", parameters);
}
Product<Mode> Library::make_mode(const Parameters& parameters) const {
    return make<Mode, Registrar::Make<Mode>>("mode", parameters);
}
Product<Backend> Library::make_backend(const Parameters& parameters, Index threads) const {
    return make<Backend, Registrar::MakeBackend>("backend", parameters, threads);
}
Product<Projection> Library::make_projection(const Parameters& parameters) const {
    return make<Projection, Registrar::Make<Projection>>("projection", parameters);
}
Product<Construction> Library::make_construction(const Parameters& parameters) const {
    return make<Construction, Registrar::Make<Construction>>("construction", parameters);
}

}  // namespace attnspan::runtime

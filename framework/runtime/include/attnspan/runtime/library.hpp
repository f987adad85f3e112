#pragma once

#include <boost/dll/shared_library.hpp>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "attnspan/plugin.hpp"
#include "attnspan/runtime/entry.hpp"
#include "attnspan/runtime/load_failure.hpp"

namespace attnspan::runtime {

class Library;

/// An object that a plugin made, and the library it came from, which it keeps alive. Never null, unless moved from.
template <class Kind>
class Product {
public:
    Product(std::shared_ptr<const Library> library, std::unique_ptr<const Kind> object)
        : library_(std::move(library)), object_(std::move(object)) {}
    Product(Product&&) noexcept = default;
    Product& operator=(Product&& other) noexcept {
        // Memberwise assignment would let go of the old library first, and the old object afterwards.
        object_ = std::move(other.object_);
        library_ = std::move(other.library_);
        return *this;
    }
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;
    ~Product() = default;

    const Kind& operator*() const { return *object_; }
    const Kind* operator->() const { return object_.get(); }
    [[nodiscard]] const Library& library() const { return *library_; }

private:
    std::shared_ptr<const Library> library_;  // before the object: destroyed after it
    std::unique_ptr<const Kind> object_;
};

/// What a plugin's register function handed over.
struct Registration {
    ParameterSpecs parameters;
    bool uses_projection = false;  ///< constructions only
    std::variant<std::monostate, Registrar::Make<Target>, Registrar::Make<Mode>, Registrar::MakeBackend,
                 Registrar::Make<Projection>, Registrar::Make<Construction>>
        make;
};

/// A plugin library that has been loaded and has registered. Its code stays in memory until the process ends, even
/// after the last Library is gone: whatever still refers to it (an exception, a thread-local, a worker thread of a
/// linear algebra library) stays valid. Immutable; make_* may be called from several threads.
class Library : public std::enable_shared_from_this<Library> {
public:
    /// Opens the file that read_plugin_entry described, with every symbol resolved at once and none of them visible to
    /// others, and runs its register function. `info.file` is absolute. Main thread.
    /// Only a separate process is safe from a library whose static initialisers throw or crash: dlopen cannot be left
    /// by an exception.
    [[nodiscard]] static std::variant<std::shared_ptr<const Library>, LoadFailure> load(const PluginInfo& info);

    [[nodiscard]] const PluginInfo& info() const { return info_; }
    [[nodiscard]] const ParameterSpecs& parameters() const { return registration_.parameters; }
    [[nodiscard]] bool uses_projection() const { return registration_.uses_projection; }
    /// For messages: `mode plugin "causal" (/usr/lib/attnspan/plugins/mode-causal.so)`.
    [[nodiscard]] std::string label() const;

    /// Makes an object of the library's kind from parameters that have been checked against parameters().
    /// @throws whatever Error the plugin refuses them with; Error(plugin) when it fails otherwise, answers with null,
    /// or is of another kind; Error(resource) when memory runs out
    [[nodiscard]] Product<Target> make_target(const Parameters& parameters) const;
    [[nodiscard]] Product<Mode> make_mode(const Parameters& parameters) const;
    [[nodiscard]] Product<Backend> make_backend(const Parameters& parameters, Index threads) const;
    [[nodiscard]] Product<Projection> make_projection(const Parameters& parameters) const;
    [[nodiscard]] Product<Construction> make_construction(const Parameters& parameters) const;

private:
    Library(PluginInfo info, boost::dll::shared_library handle, Registration registration)
        : info_(std::move(info)), handle_(std::move(handle)), registration_(std::move(registration)) {}

    template <class Kind, class Make, class... Arguments>
    [[nodiscard]] Product<Kind> make(std::string_view kind, const Arguments&... arguments) const;

    PluginInfo info_;
    boost::dll::shared_library handle_;  // before the registration, which may own memory of the plugin's
    Registration registration_;
};

}  // namespace attnspan::runtime

#include "attnspan/runtime/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "attnspan/runtime/nearest.hpp"

namespace attnspan::runtime {

namespace fs = std::filesystem;

namespace {

/// Every *.so of a folder by name, whatever it is: what is no library is refused later, with its reason.
std::vector<fs::path> libraries_in(const fs::path& folder, std::vector<LoadFailure>& failures) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator item(folder, error), end; !error && item != end; item.increment(error)) {
        if (item->path().extension() == ".so") {
            files.push_back(item->path());
        }
    }
    if (error) {
        failures.push_back({.file = folder, .stage = "path", .reason = "cannot be searched: " + error.message()});
    }
    std::ranges::sort(files);
    return files;
}

bool is_about(const LoadFailure& failure, std::string_view kind, std::string_view name) {
    if (failure.name.empty()) {
        return failure.file.filename() == fmt::format("{}-{}.so", kind, name);
    }
    return failure.name == name && (failure.kind.empty() || failure.kind == kind);
}

auto order(const PluginInfo& info) {
    return std::tuple(std::ranges::find(plugin_kinds, info.kind), std::string_view(info.name));
}

}  // namespace

Registry::Registry(const SearchPath& path) : searched_(path.entries), failures_(path.failures) {
    for (const fs::path& entry : path.entries) {
        if (std::error_code error; fs::is_directory(entry, error)) {
            for (const fs::path& file : libraries_in(entry, failures_)) {
                add_file(file);
            }
        } else {
            add_file(entry);
        }
    }
    std::ranges::stable_sort(slots_, {}, [](const Slot& slot) { return order(slot.info); });
    refuse_ambiguous();
}

void Registry::add_file(const fs::path& file) {
    std::error_code error;
    const fs::path canonical = fs::canonical(file, error);
    const fs::path& known_as = error ? file : canonical;
    const bool seen = std::ranges::any_of(slots_, [&](const Slot& s) { return s.info.file == known_as; }) ||
                      std::ranges::any_of(failures_, [&](const LoadFailure& f) { return f.file == known_as; });
    if (seen) {
        return;
    }
    auto read = read_plugin_entry(known_as);
    if (auto* info = std::get_if<PluginInfo>(&read)) {
        slots_.push_back({.info = std::move(*info), .library = nullptr});
    } else {
        failures_.push_back(std::get<LoadFailure>(std::move(read)));
    }
}

void Registry::refuse_ambiguous() {
    for (auto first = slots_.begin(); first != slots_.end();) {
        const auto end =
            std::find_if(first, slots_.end(), [&](const Slot& slot) { return order(slot.info) != order(first->info); });
        if (end - first == 1) {
            first = end;
            continue;
        }
        std::vector<std::string> files;
        std::transform(first, end, std::back_inserter(files), [](const Slot& s) { return s.info.file.string(); });
        failures_.push_back(
            {.file = first->info.file,
             .stage = "ambiguous",
             .reason = fmt::format("{} files say they are the {} plugin \"{}\": {}; keep one of them", files.size(),
                                   first->info.kind, first->info.name, fmt::join(files, ", ")),
             .name = first->info.name,
             .kind = first->info.kind});
        first = slots_.erase(first, end);
    }
}

std::vector<PluginInfo> Registry::plugins() const {
    std::vector<PluginInfo> infos;
    std::ranges::transform(slots_, std::back_inserter(infos), &Slot::info);
    return infos;
}

bool Registry::load(std::vector<Slot>::iterator slot) {
    if (!slot->library) {
        auto loaded = Library::load(slot->info);
        if (auto* failure = std::get_if<LoadFailure>(&loaded)) {
            failures_.push_back(std::move(*failure));
            slots_.erase(slot);
            return false;
        }
        slot->library = std::get<std::shared_ptr<const Library>>(std::move(loaded));
    }
    return true;
}

std::shared_ptr<const Library> Registry::find(std::string_view kind, std::string_view name, const Location& where) {
    const auto slot =
        std::ranges::find_if(slots_, [&](const Slot& s) { return s.info.kind == kind && s.info.name == name; });
    if (slot != slots_.end() && load(slot)) {
        return slot->library;
    }
    // From the last one back: the failure to load it just now says more than an older one about a file of that name.
    const auto failure = std::find_if(failures_.rbegin(), failures_.rend(),
                                      [&](const LoadFailure& f) { return is_about(f, kind, name); });
    if (failure != failures_.rend()) {
        throw Error(ErrorKind::plugin,
                    fmt::format("{} plugin \"{}\" cannot be used: {} ({}): {}", kind, name, failure->file.string(),
                                failure->stage, failure->reason),
                    where);
    }
    fail_unknown(kind, name, where);
}

void Registry::fail_unknown(std::string_view kind, std::string_view name, const Location& where) const {
    std::vector<std::string> known;
    for (const Slot& slot : slots_) {
        if (slot.info.kind == kind) {
            known.push_back(slot.info.name);
        }
    }
    std::string message = fmt::format("there is no {} plugin \"{}\"", kind, name);
    if (const auto meant = nearest(name, known)) {
        message += fmt::format("; did you mean \"{}\"?", *meant);
    }
    if (known.empty()) {
        std::vector<std::string> folders;
        std::ranges::transform(searched_, std::back_inserter(folders), [](const fs::path& p) { return p.string(); });
        message += fmt::format("; no {} plugins at all were found in: {}; --plugin-path FOLDER adds a folder", kind,
                               folders.empty() ? "(no folder exists)" : fmt::format("{}", fmt::join(folders, ", ")));
    } else {
        message += fmt::format(" (known: {})", fmt::join(known, ", "));
    }
    if (!failures_.empty()) {
        message +=
            fmt::format("; {} could not be used, see `attnspan plugins list`",
                        failures_.size() == 1 ? "one plugin file" : fmt::format("{} plugin files", failures_.size()));
    }
    throw Error(ErrorKind::config, message, where);
}

void Registry::load_all() {
    for (std::size_t i = 0; i < slots_.size();) {
        i += load(slots_.begin() + static_cast<std::ptrdiff_t>(i)) ? 1U : 0U;
    }
}

}  // namespace attnspan::runtime

#include <atomic>

#include "broken.hpp"

namespace {

/// How many objects were made so far.
std::atomic<attnspan::Index> made = 0;

/// Every object hides another key.
class ObjectsDiffer final : public attnspan::Mode {
public:
    static attnspan::ParameterSpecs parameters() { return {}; }
    explicit ObjectsDiffer(const attnspan::Parameters&) : number_(made++) {}

private:
    [[nodiscard]] attnspan::KeyRange do_visible(attnspan::Index, attnspan::Index, attnspan::Index keys) const override {
        return {.begin = keys == 0 ? 0 : number_ % keys, .end = keys};
    }

    attnspan::Index number_;
};

}  // namespace

ATTNSPAN_PLUGIN(ObjectsDiffer, "test.objects-differ", "1.0.0", "A mode whose objects differ");

#include <atomic>

#include "attnspan/plugin.hpp"

namespace {

/// The number of objects alive.
std::atomic<attnspan::Index> alive = 0;

/// Every query sees as many keys as there are objects of this class, which tells a test whether others are gone.
class Counted final : public attnspan::Mode {
public:
    static attnspan::ParameterSpecs parameters() { return {}; }
    explicit Counted(const attnspan::Parameters&) { ++alive; }
    ~Counted() override { --alive; }

private:
    [[nodiscard]] attnspan::KeyRange do_visible(attnspan::Index, attnspan::Index, attnspan::Index) const override {
        return {.begin = 0, .end = alive};
    }
};

}  // namespace

ATTNSPAN_PLUGIN(Counted, "test.good", "1.2.3", "A mode that counts its objects");

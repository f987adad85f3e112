#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "attnspan/construction.hpp"
#include "attnspan/core/random.hpp"
#include "attnspan/target.hpp"
#include "core_support.hpp"

namespace core_test {
namespace {

/// One entry in each of two rows, promised to be at most `promised` in all.
class Promising final : public Target {
public:
    explicit Promising(Index promised) : promised_(promised) {}

private:
    [[nodiscard]] TargetShape do_shape() const override { return {.queries = 2, .keys = 2, .nonzeros = promised_}; }
    [[nodiscard]] GeneratedTarget do_generate(const VisibleRanges&, const RandomStream&) const override {
        GeneratedTarget out;
        out.weights.cols = 2;
        for (Index i = 0; i < 2; ++i) {
            out.weights.push(i, 1.0);
            out.weights.end_row();
        }
        return out;
    }

    Index promised_;
};

class PreparesNothing final : public Construction {
    [[nodiscard]] std::unique_ptr<PreparedConstruction> do_prepare(const Problem&,
                                                                   const ConstructionTools&) const override {
        return nullptr;
    }
};

}  // namespace

TEST_CASE("a target with more entries than its shape promised is refused with both numbers") {
    const core::PhiloxSource source;
    const RandomStream random = core::stream(source, 1, core::Purpose::target);
    const VisibleRanges all{.keys = 2, .ranges = std::vector<KeyRange>(2, {0, 2})};
    CHECK(Promising(2).generate(all, random).weights.nonzeros() == 2);
    CHECK_THROWS_WITH_AS((void)Promising(1).generate(all, random),
                         "target: 2 entries, but the shape promised at most 1", Error);
}

TEST_CASE("a construction that prepares nothing is refused") {
    const NaiveBackend backend;
    const Serial serial;
    const ConstructionTools tools{.backend = backend, .projection = nullptr, .parallel = serial};
    CHECK_THROWS_WITH_AS((void)PreparesNothing().prepare(Problem{}, tools), "construction: prepared nothing", Error);
}

}  // namespace core_test

#include "targets/pattern.hpp"

#include <algorithm>
#include <iterator>

#include "targets/parameters.hpp"

namespace attnspan::targets {
namespace {

/// The keys that are given and seen, each once, as a row of weights 1.
void push_row(KeyRanges& keys, const KeyRange& visible, SparseMatrix& matrix) {
    const auto before = [](const KeyRange& a, const KeyRange& b) { return a.begin < b.begin; };
    if (!std::is_sorted(keys.begin(), keys.end(), before)) {
        std::sort(keys.begin(), keys.end(), before);
    }
    Index next = visible.begin;
    for (const KeyRange& range : keys) {
        const Index end = std::min(range.end, visible.end);
        for (Index j = std::max(range.begin, next); j < end; ++j) {
            matrix.push(j, 1.0);
        }
        next = std::max(next, end);
    }
    matrix.end_row();
}

}  // namespace

ParameterSpecs Pattern::parameters_with(ParameterSpecs own) {
    ParameterSpecs weights = Weighting::parameters();
    own.insert(own.begin(), length_parameter());
    own.insert(own.end(), std::make_move_iterator(weights.begin()), std::make_move_iterator(weights.end()));
    return own;
}

Pattern::Pattern(const Parameters& p) : length_(p.integer("length")), weighting_(p) {}

TargetShape Pattern::do_shape() const {
    const Index every = (Count(length_) * length_).value();
    return {.queries = length_, .keys = length_, .nonzeros = std::min(do_entries().value(), every)};
}

GeneratedTarget Pattern::do_generate(const VisibleRanges& visible, const RandomStream& random) const {
    GeneratedTarget out;
    out.weights.cols = length_;
    KeyRanges keys;
    for (Index i = 0; i < length_; ++i) {
        keys.clear();
        do_keys(i, random, keys);
        push_row(keys, visible[i], out.weights);
    }
    weighting_.apply(out.weights, random);
    return out;
}

}  // namespace attnspan::targets

#include "attnspan/io/target_file.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "attnspan/io/array_file.hpp"
#include "attnspan/io/file.hpp"
#include "attnspan/io/npy.hpp"
#include "attnspan/io/npz.hpp"
#include "attnspan/io/safetensors.hpp"
#include "attnspan/memory.hpp"
#include "detail.hpp"

namespace attnspan::io {
namespace {

/// Where the one matrix begins that the options ask for, as an offset of elements.
Index matrix_offset(const std::vector<Index>& shape, std::optional<Index> slice, const std::string& source) {
    const auto fail = [&](const std::string& message) {
        detail::fail("the array has shape " + detail::tuple(shape) + ": " + message, {.source = source});
    };
    if (shape.size() == 2 && slice) {
        fail("it is one matrix, so that slice = " + std::to_string(*slice) + " has no meaning; leave it out");
    }
    if (shape.size() == 3 && !slice) {
        fail("it is a stack of " + std::to_string(shape[0]) + " matrices; choose one with slice = h, counted from 0");
    }
    if (shape.size() == 3 && (*slice < 0 || *slice >= shape[0])) {
        fail("slice = " + std::to_string(*slice) + " is not there; " +
             (shape[0] == 0 ? "the stack is empty" : "choose 0 to " + std::to_string(shape[0] - 1)));
    }
    if (shape.size() != 2 && shape.size() != 3) {
        fail("a matrix (queries x keys) or a stack of them (heads x queries x keys) is expected; reshape it");
    }
    return shape.size() == 2 ? 0 : *slice * shape[1] * shape[2];
}

void require_a_query_and_a_key(Index rows, Index cols, const std::string& source) {
    if (rows == 0 || cols == 0) {
        detail::fail("the matrix is " + std::to_string(rows) + " x " + std::to_string(cols) +
                         ": at least one query and one key are expected",
                     {.source = source});
    }
}

SparseMatrix dense_to_sparse(const NpyArray& array, Index offset, const std::string& source) {
    SparseMatrix m;
    const Index rows = array.shape.end()[-2];
    m.cols = array.shape.end()[-1];
    require_a_query_and_a_key(rows, m.cols, source);
    const double* weight = array.values.data() + offset;
    const auto nonzeros = static_cast<std::size_t>(rows * m.cols - std::count(weight, weight + rows * m.cols, 0.0));
    require_memory(static_cast<double>(nonzeros) * (sizeof(Index) + sizeof(double)), source);
    m.column.reserve(nonzeros);
    m.value.reserve(nonzeros);
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < m.cols; ++j, ++weight) {
            if (!std::isfinite(*weight) || *weight < 0) {
                detail::fail("entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
                                 detail::shortest(*weight) + ", but weights must be finite and not negative",
                             {.source = source});
            }
            if (*weight != 0) {
                m.push(j, *weight);
            }
        }
        m.end_row();
    }
    return m;
}

ReadWeights from_array(const NpyArray& array, const TargetFileOptions& options, const std::string& source) {
    ReadWeights result;
    result.matrix = dense_to_sparse(array, matrix_offset(array.shape, options.slice, source), source);
    result.is_array = true;
    result.stored = static_cast<Index>(array.values.size());
    return result;
}

/// The array that is asked for, or the only one, or else the sparse matrix that the members of an .npz describe.
ReadWeights read_member(std::string_view bytes, const std::string& source, const TargetFileOptions& options) {
    const auto arrays = open_array_file(bytes, source);
    const auto* const archive = dynamic_cast<const Npz*>(arrays.get());
    if (archive != nullptr && !options.member && archive->is_sparse()) {
        ReadWeights result = archive->sparse(options.duplicates);
        matrix_offset({result.matrix.rows, result.matrix.cols}, options.slice, source);
        return result;
    }
    const std::string name = arrays->choose(options.member, "A", source, "choose one with member = \"NAME\"");
    return from_array(arrays->array(name), options, source + ':' + name);
}

/// Marks the entries of a row that the rule keeps. Keys ascend with t.
void mark(const KeepTop& rule, std::span<const double> weights, std::vector<char>& kept) {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto last = order.begin() + std::min(rule.count, static_cast<Index>(order.size()));
    std::partial_sort(order.begin(), last, order.end(), [&](std::size_t a, std::size_t b) {
        return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
    });
    std::for_each(order.begin(), last, [&](std::size_t t) { kept[t] = 1; });
}
void mark(const KeepAbove& rule, std::span<const double> weights, std::vector<char>& kept) {
    std::ranges::transform(weights, kept.begin(), [&](double w) { return static_cast<char>(w > rule.weight); });
}

}  // namespace

ReadWeights read_target_file(const std::filesystem::path& path, const TargetFileOptions& options) {
    return parse_target_file(read_file(path), path.string(), options);
}

bool is_target_file(std::string_view bytes) {
    return bytes.starts_with("\x93NUMPY") || bytes.starts_with("%%") || is_zip(bytes) || is_safetensors(bytes);
}

ReadWeights parse_target_file(std::string_view bytes, const std::string& source, const TargetFileOptions& options) {
    ReadWeights result;
    if (is_zip(bytes) || is_safetensors(bytes)) {
        result = read_member(bytes, source, options);
    } else if (options.member) {
        detail::fail("it holds no arrays with names, so that member = " + detail::quoted(*options.member) +
                         " has no meaning; leave it out",
                     {.source = source});
    } else if (bytes.starts_with("\x93NUMPY")) {
        result = from_array(parse_npy(bytes, source), options, source);
    } else if (bytes.starts_with("%%")) {
        result = parse_matrix_market(bytes, source, {.duplicates = options.duplicates});
        matrix_offset({result.matrix.rows, result.matrix.cols}, options.slice, source);
    } else {
        detail::fail(
            "a .npy array, an .npz archive, a .safetensors file or a Matrix Market file is expected, but this "
            "is " +
                describe_content(bytes),
            {.source = source});
    }
    require_a_query_and_a_key(result.matrix.rows, result.matrix.cols, source);
    return result;
}

Kept keep(const SparseMatrix& matrix, const KeepRule& rule, const VisibleRanges& visible) {
    Kept result;
    result.matrix.cols = matrix.cols;
    Index rows_seen = 0;
    for (Index i = 0; i < matrix.rows; ++i) {
        const std::span<const Index> keys = matrix.row_columns(i);
        const std::span<const double> weights = matrix.row_values(i);
        const auto first = static_cast<std::size_t>(std::ranges::lower_bound(keys, visible[i].begin) - keys.begin());
        const auto last = static_cast<std::size_t>(std::ranges::lower_bound(keys, visible[i].end) - keys.begin());
        const std::span<const double> seen = weights.subspan(first, last - first);
        std::vector<char> kept(seen.size(), 0);
        std::visit([&](const auto& r) { mark(r, seen, kept); }, rule);

        // Relative to the largest weight, so that the sum cannot overflow.
        const double unit = seen.empty() ? 1 : *std::ranges::max_element(seen);
        double dropped = 0;
        double sum = 0;
        for (std::size_t t = 0; t < keys.size(); ++t) {
            const bool is_visible = first <= t && t < last;
            if (is_visible) {
                sum += weights[t] / unit;
            }
            if (is_visible && kept[t - first] == 0) {
                dropped += weights[t] / unit;
                ++result.entries_dropped;
            } else {
                result.matrix.push(keys[t], weights[t]);
            }
        }
        result.matrix.end_row();
        if (!seen.empty()) {
            ++rows_seen;
            result.dropped_mass_max = std::max(result.dropped_mass_max, dropped / sum);
            result.dropped_mass_mean += dropped / sum;
        }
    }
    result.dropped_mass_mean /= static_cast<double>(std::max<Index>(rows_seen, 1));
    return result;
}

}  // namespace attnspan::io

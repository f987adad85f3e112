#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace attnspan::cli {

void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows, bool heading) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()), 0);
        for (std::size_t c = 0; c < row.size(); ++c) {
            widths[c] = std::max(widths[c], row[c].size());
        }
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line = " ";
        for (std::size_t c = 0; c < rows[r].size(); ++c) {
            line += fmt::format(" {:<{}} ", rows[r][c], widths[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out << line << '\n';
        if (heading && r == 0) {
            std::string rule = " ";
            for (const std::size_t width : widths) {
                rule += ' ' + std::string(width, '-') + ' ';
            }
            rule.erase(rule.find_last_not_of(' ') + 1);
            out << rule << '\n';
        }
    }
}

std::string text(double value) {
    return fmt::format("{:.6g}", value);
}

void print_measures(std::ostream& out, const core::Measures& m, const Limits& limits) {
    const auto allowed = [](const std::optional<double>& limit) {
        return limit ? "<= " + text(*limit) : std::string();
    };
    const auto row = [](const std::optional<Index>& i) {
        return i ? fmt::format("row {}", *i) : std::string("no row");
    };
    const std::string leak_place =
        m.leakage_row ? fmt::format("row {}, key {}", *m.leakage_row, m.leakage_key.value_or(-1)) : "no row";
    print_table(out,
                {{"measure", "achieved", "allowed", "attained at"},
                 {"ratio (epsilon_1)", text(std::expm1(m.log_ratio)), allowed(limits.ratio), row(m.ratio_row)},
                 {"leakage (epsilon_2)", text(std::exp(m.log_leakage)), allowed(limits.leakage), leak_place},
                 {"total variation, largest", text(m.total_variation_max), allowed(limits.total_variation),
                  row(m.total_variation_row)},
                 {"total variation, mean", text(m.total_variation_mean)},
                 {"support mass, least", text(m.support_mass_min), "", row(m.support_mass_row)}},
                true);
}

void print_target(std::ostream& out, const core::TargetSummary& t) {
    print_table(out,
                {{"rows (queries)", std::to_string(t.rows)},
                 {"cols (keys)", std::to_string(t.cols)},
                 {"nonzeros", std::to_string(t.nonzeros)},
                 {"sum", fmt::format("{}", t.sum)},
                 {"nonzeros per row", fmt::format("{} to {}", t.min_row_nonzeros, t.max_row_nonzeros)},
                 {"nonzeros per column", fmt::format("{} to {}", t.min_col_nonzeros, t.max_col_nonzeros)},
                 {"variation (gamma)", text(t.variation)},
                 {"empty rows",
                  t.first_empty_row ? fmt::format("{} (the first is row {})", t.empty_rows, *t.first_empty_row) : "0"}},
                false);
}

void print_facts(std::ostream& out, const Facts& facts) {
    struct Printer {
        std::string operator()(bool v) const { return v ? "yes" : "no"; }
        std::string operator()(Index v) const { return std::to_string(v); }
        std::string operator()(double v) const { return text(v); }
        std::string operator()(const std::string& v) const { return v; }
    };
    std::vector<std::vector<std::string>> rows;
    for (const Fact& fact : facts) {
        std::string name = fact.name;
        std::replace(name.begin(), name.end(), '_', ' ');
        rows.push_back({name, std::visit(Printer{}, fact.value)});
    }
    print_table(out, rows, false);
}

}  // namespace attnspan::cli

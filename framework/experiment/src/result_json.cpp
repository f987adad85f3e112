#include "attnspan/experiment/result_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "attnspan/experiment/provenance.hpp"

namespace attnspan::experiment {
namespace {

using Json = nlohmann::ordered_json;

/// A number, or null with a status beside it.
void put_number(Json& object, const std::string& name, double value) {
    if (std::isfinite(value)) {
        object[name] = value;
        return;
    }
    object[name] = nullptr;
    object[name + "_status"] = std::isnan(value) ? "undefined" : value > 0 ? "overflow" : "minus_infinity";
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

void put_facts(Json& object, const Facts& facts) {
    for (const Fact& fact : facts) {
        // A plugin's word never takes the place of the program's own.
        const std::string name = object.contains(fact.name) ? "fact_" + fact.name : fact.name;
        if (const auto* number = std::get_if<double>(&fact.value)) {
            put_number(object, name, *number);
        } else {
            std::visit([&](const auto& value) { object[name] = value; }, fact.value);
        }
    }
}

Json attempt_json(const core::Attempt& attempt) {
    Json out{{"query_dim", attempt.query_dim}, {"sample", attempt.sample}, {"passed", attempt.passed()}};
    if (!attempt.infeasible.empty()) {
        out["infeasible"] = attempt.infeasible;
    } else if (attempt.refuted_by) {
        const core::Refutation& why = *attempt.refuted_by;
        out["failed"] = condition_name(why.condition);
        out["row"] = why.row;
        if (why.key) {
            out["key"] = *why.key;
        }
        put_number(out, "log_excess_at_least", why.log_excess);
    }
    return out;
}

Json plan_json(const core::SearchPlan& plan) {
    Json out;
    switch (plan.method) {
        case core::SearchMethod::fixed:
            out = {{"method", "fixed"}, {"query_dim", plan.query_dim}};
            break;
        case core::SearchMethod::grid:
        case core::SearchMethod::bisect:
            out = {{"method", plan.method == core::SearchMethod::grid ? "grid" : "bisect"},
                   {"start", plan.start},
                   {"stop", plan.stop},
                   {"step", plan.step}};
            break;
    }
    out["samples"] = plan.samples;
    out["resample"] = plan.resample;
    return out;
}

/// Adds what the search did for one target.
void put_outcome(Json& out, const core::SearchOutcome& search) {
    if (const auto& count = search.pass_count) {
        out["passed_samples"] = {
            {"passed", count->passed}, {"samples", count->samples}, {"interval_95", {count->lower, count->upper}}};
    }
    if (const auto& best = search.best) {
        out["best_attempt"] = {{"query_dim", best->query_dim},
                               {"hidden_dim", 2 * best->query_dim},
                               {"sample", best->sample},
                               {"measures", measures_json(best->measures, best->facts)}};
    }
    out["attempts"] = Json::array();
    for (const core::Attempt& attempt : search.attempts) {
        out["attempts"].push_back(attempt_json(attempt));
    }
}

Json search_json(const runtime::PipelineResult& result) {
    Json out = plan_json(result.plan);
    if (result.targets.size() == 1) {
        put_outcome(out, result.targets.front().search);
        return out;
    }
    out["targets"] = Json::array();
    for (const runtime::TargetResult& target : result.targets) {
        Json one{{"name", target.name}};
        put_outcome(one, target.search);
        out["targets"].push_back(std::move(one));
    }
    return out;
}

Json bound_json(const std::optional<runtime::BoundReport>& bound) {
    if (!bound) {
        return nullptr;
    }
    Json out{{"query_dim", or_null(bound->query_dim)},
             {"hidden_dim", bound->query_dim ? Json(2 * *bound->query_dim) : Json()},
             {"failure_probability", bound->failure_probability}};
    if (!bound->query_dim) {
        out["query_dim_status"] = "no finite bound";
    }
    return out;
}

}  // namespace

std::string text_of(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string condition_name(core::Condition condition) {
    switch (condition) {
        case core::Condition::ratio:
            return "ratio";
        case core::Condition::leakage:
            return "leakage";
        case core::Condition::total_variation:
            return "total_variation";
    }
    return {};
}

Json target_json(const std::string& name, const std::string& plugin, const core::TargetSummary& target,
                 const Facts& facts) {
    Json out{{"name", name},
             {"plugin", plugin},
             {"rows", target.rows},
             {"cols", target.cols},
             {"nonzeros", target.nonzeros},
             {"sum", nullptr},
             {"min_row_nonzeros", target.min_row_nonzeros},
             {"max_row_nonzeros", target.max_row_nonzeros},
             {"min_col_nonzeros", target.min_col_nonzeros},
             {"max_col_nonzeros", target.max_col_nonzeros}};
    put_number(out, "sum", target.sum);
    put_number(out, "variation", target.variation);
    out["log_variation"] = target.log_variation;
    out["empty_rows"] = target.empty_rows;
    put_facts(out, facts);
    return out;
}

Json measures_json(const core::Measures& m, const Facts& facts) {
    Json out;
    put_number(out, "ratio", std::expm1(m.log_ratio));
    put_number(out, "log_ratio", m.log_ratio);
    out["ratio_row"] = or_null(m.ratio_row);
    put_number(out, "leakage", std::exp(m.log_leakage));
    put_number(out, "log_leakage", m.log_leakage);
    out["leakage_row"] = or_null(m.leakage_row);
    out["leakage_key"] = or_null(m.leakage_key);
    put_number(out, "total_variation_max", m.total_variation_max);
    out["total_variation_row"] = or_null(m.total_variation_row);
    put_number(out, "total_variation_mean", m.total_variation_mean);
    put_number(out, "support_mass_min", m.support_mass_min);
    out["support_mass_row"] = or_null(m.support_mass_row);
    put_facts(out, facts);
    return out;
}

Json result_json(const runtime::PipelineConfig& config, const runtime::PipelineResult& result) {
    Json targets = Json::array();
    for (const runtime::TargetResult& target : result.targets) {
        Json one = target_json(target.name, target.plugin, target.summary, target.facts);
        one["query_dim_alone"] = or_null(target.search.alone);
        if (const auto& found = target.search.found) {
            one["sample"] = found->sample;
            one["measures"] = measures_json(found->measures, found->facts);
        }
        targets.push_back(std::move(one));
    }
    Json seconds;
    for (const auto& [stage, time] : result.seconds) {
        seconds[stage] = time;
    }
    // One sample made the X of a single target; several choose their own.
    const auto& first = result.targets.front().search.found;
    const bool one_sample = first && result.targets.size() == 1;
    return {{"schema", "attnspan.result/1"},
            {"name", config.name()},
            {"passed", result.query_dim.has_value()},
            {"query_dim", or_null(result.query_dim)},
            {"hidden_dim", result.query_dim ? Json(2 * *result.query_dim) : Json()},
            {"sample", one_sample ? Json(first->sample) : Json()},
            {"bound", bound_json(result.bound)},
            {"trivial_query_dim", result.trivial_query_dim},
            {"targets", std::move(targets)},
            {"search", search_json(result)},
            {"seconds", std::move(seconds)},
            {"config", runtime::to_json(config)},
            {"provenance", provenance(config.backend.library->info().name, result.backend, result.threads)}};
}

}  // namespace attnspan::experiment

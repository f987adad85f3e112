#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attnspan/core/describe.hpp"
#include "attnspan/core/measures.hpp"
#include "attnspan/fact.hpp"
#include "attnspan/runtime/pipeline.hpp"

namespace attnspan::experiment {

/// One entry of "targets" without measures: what `target --json` prints.
[[nodiscard]] nlohmann::ordered_json target_json(const std::string& name, const std::string& plugin,
                                                 const core::TargetSummary& target, const Facts& facts);

/// The measures of section 2.2. A number that JSON cannot hold is null, with "<name>_status" beside it: "overflow" or
/// "minus_infinity" (a leakage of 0).
[[nodiscard]] nlohmann::ordered_json measures_json(const core::Measures& measures, const Facts& facts = {});

/// The whole document "attnspan.result/1" of section 6, but for the files (see write_run_directory).
[[nodiscard]] nlohmann::ordered_json result_json(const runtime::PipelineConfig& config,
                                                 const runtime::PipelineResult& result);

/// A document as text, indented. Texts of plugins and paths that are not UTF-8 are replaced where they are not.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& document);

/// "ratio", "leakage" or "total_variation".
[[nodiscard]] std::string condition_name(core::Condition condition);

}  // namespace attnspan::experiment

#include "attnspan/plugin.hpp"
#include "targets/sinks.hpp"

namespace {

using namespace attnspan;

/// StreamingLLM. Source: Xiao, Tian, Chen, Han, Lewis, arXiv 2309.17453, and the class StartRecentKVCache of the
/// authors' code.
class Streaming final : public targets::SinksAndRecent {
public:
    static ParameterSpecs parameters() {
        using namespace parameter;
        return parameters_with({
            integer("sinks", "first tokens, which every later token attends to").defaults_to(Index{4}).at_least(0),
            integer("recent", "tokens before this one, itself counted").defaults_to(Index{512}).at_least(1),
        });
    }

    explicit Streaming(const Parameters& p) : SinksAndRecent(p, p.integer("sinks"), p.integer("recent")) {}
};

}  // namespace

ATTNSPAN_PLUGIN(Streaming, "streaming", "1.0.0", "StreamingLLM: attention sinks and a window of recent tokens");

// Jepsen histories: Elle's EDN and elle-cli's JSON twin of it.
//
// A history is a sequence of maps, one behind the other or in one vector, list or array. What a map
// means:
//
//   :process  An integer is a client, hence a session; lines of anything else (:nemesis) are left
//   out.
//             If no line has a process, each transaction is a session of its own, and an invocation
//             belongs to the completion that follows it.
//   :type     :invoke begins a transaction; :ok commits it, with the values of that line; :fail
//   aborts
//             it; :info, or no completion at all, leaves it unknown. The operations of a
//             transaction that is not :ok are the invocation's. Its reads are unobserved, except
//             that an :info line may have results. A completion without an invocation is a
//             transaction, too.
//   :value    [[:r k v] [:w k v] [:append k v] …]. A read without a value, [:r k], is unobserved. A
//             read of nil is the empty list if the key is a list (or could be: nothing but nil is
//             read from it, and other keys are lists), otherwise null.
//   :time     The client clock, if every line of a client has one. Otherwise :index, if every line
//             has one and they grow; if they do not grow, the place in the sequence, because that
//             is what Elle goes by. Otherwise there are no clocks.
//   :f        :txn or nothing; anything else is accepted if :value is as above.
//
// All other keys are ignored. Keywords are kept with their colon (":x"), symbols without.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/format.h"

namespace ouro {

bool detect_jepsen_edn(std::string_view head);
Result<History> read_jepsen_edn(Input& input, unsigned threads);
// Writes a pair of lines per transaction, in the order of the clocks if there are any.
Result<WriteReport> write_jepsen_edn(const History& history, Output& output);

bool detect_jepsen_json(std::string_view head);
Result<History> read_jepsen_json(Input& input, unsigned threads);

}  // namespace ouro

// Jepsen histories: Elle's EDN, and elle-cli's JSON with the same content.
//
// A history is a sequence of maps, one after the other or in one vector, list or array. A map,
// called a line here, is an invocation or a completion. What its entries mean:
//
//   :process  An integer is a client, hence a session. Lines with anything else (:nemesis) are left
//             out. If no line has a process, no session is known, and an
//             invocation belongs to the completion that follows it.
//   :type     :invoke begins a transaction. :ok commits it; the values are those of that line.
//             :fail aborts it. :info, or no completion at all, leaves it unknown. The operations of
//             a transaction that is not :ok are those of the invocation, and its reads are
//             unobserved; but an :info line may have its own operations with results. A completion
//             without an invocation is a transaction, too.
//   :value    [[:r k v] [:w k v] [:append k v] [:cas k [old new]] …]. A read without a value,
//             [:r k], is unobserved. A read of nil is a read of the empty list if the key is a
//             list, or if only nil is read from it and other keys are lists; otherwise it is a read
//             of null.
//   :time     The client clock, if every line of a client has one, and not all are -1, which Jepsen
//             puts where there is none. Otherwise the clock is :index,
//             if every line has one and they grow; if they do not grow, the place in the sequence,
//             because that is what Elle uses. Otherwise there are no clocks.
//   :f        :txn or nothing. Also :read, :write and :cas of one register, with the value, or with
//             [key value]. A :cas that fails without :error is a compare-and-set that found
//             something else. Anything else is accepted if :value is as above.
//
// Histories of other models than transactions (jepsen_model.h) have operations of their own.
//
// All other keys are ignored. Keywords are kept with their colon (":x"), symbols without.
#pragma once

#include "format/input.h"
#include "format/output.h"
#include "ouro/elle.h"
#include "ouro/format.h"

namespace ouro {

bool detect_jepsen_edn(std::string_view head);
Result<History> read_jepsen_edn(Input& input, unsigned threads);
// Writes a pair of lines per transaction, in the order of the clocks if there are any.
Result<WriteReport> write_jepsen_edn(const History& history, Output& output);

// The same for either format, and a model by its name (find_jepsen_model()), which must be known;
// "": the model is found out. Fills `lines` unless it is null.
Result<History> read_jepsen_model(Input& input, Format format, std::string_view model,
                                  RecordedLines* lines);

bool detect_jepsen_json(std::string_view head);
Result<History> read_jepsen_json(Input& input, unsigned threads);

}  // namespace ouro

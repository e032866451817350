#include "db/database.h"

namespace ouro::db {
namespace {

Answer cannot(const char* what) { return Answer::failed(std::string(what) + " not supported"); }

}  // namespace

Answer Connection::read(Key, std::optional<Number>&) { return cannot("read"); }
Answer Connection::write(Key, Number) { return cannot("write"); }
Answer Connection::scan(Key, Key, std::vector<KeyNumber>&) { return cannot("scan"); }
Answer Connection::read_list(Key, std::vector<Number>&) { return cannot("read of a list"); }
Answer Connection::append(Key, Number) { return cannot("append"); }
Answer Connection::read_row(Key, std::optional<Row>&) { return cannot("read of a row"); }
Answer Connection::write_row(Key, const Row&) { return cannot("write of a row"); }
Answer Connection::select(const Where&, std::vector<KeyRow>&) { return cannot("select"); }
Answer Connection::aggregate(AggregateKind, std::size_t, const Where&, std::optional<Number>&) {
  return cannot("aggregate");
}
Answer Connection::update_where(const Where&, std::span<const Assignment>,
                                std::vector<RowChange>&) {
  return cannot("update by predicate");
}
Answer Connection::remove_where(const Where&, std::vector<KeyRow>&) {
  return cannot("delete by predicate");
}
Answer Connection::remove(Key) { return cannot("delete"); }
Answer Connection::whole(std::span<const Operation>, bool, std::vector<Found>&) {
  return cannot("a whole transaction");
}

}  // namespace ouro::db

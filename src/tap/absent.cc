// ouro::tap() in a build without PostgreSQL's client or parser (cmake/drivers.cmake).

#include "ouro/tap.h"

namespace ouro {

Result<TapReport> tap(const TapOptions&) {
  return Error{
      .what =
          "this build has no tap: libpq or libpg_query was missing when it was built; "
          "install libpq-dev and libpg-query-dev, as 'scripts/setup build' does, and build "
          "again"};
}

}  // namespace ouro

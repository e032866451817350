// How well a guess of the order of all nodes fits.
#pragma once

#include <cstddef>
#include <span>

#include "check/polygraph/encoding.h"

namespace ouro {

// How many chains could not follow the one before them in `order` among those of their key, as an
// arc between the two would run backward. A search that begins with the order has that much to
// mend, at least.
// Cost: each key's chains are sorted by the order.
[[nodiscard]] std::size_t misfits(const Encoding& encoding, std::span<const Node> order,
                                  const Budget& budget);

}  // namespace ouro

// The example of include/ouro/level.h.
#include <iostream>

#include "ouro/ouro.h"

int main() {
  const auto asked = ouro::find_level("pcsi");
  if (!asked) return 1;
  for (const ouro::LevelInfo& other : ouro::levels()) {
    if (other.level != *asked && ouro::implies(*asked, other.level))
      std::cout << ouro::info(*asked).name << " implies " << other.name << '\n';
  }
  return 0;
}

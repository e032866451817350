// The example of include/ouro/level.h.
#include <iostream>

#include "ouro/ouro.h"

int main() {
  const ouro::Level asked = ouro::Level::PrefixConsistentSi;
  for (const ouro::LevelInfo& other : ouro::levels()) {
    if (other.level != asked && ouro::implies(asked, other.level))
      std::cout << ouro::info(asked).name << " implies " << other.name << '\n';
  }
  return 0;
}

// ouro::serve_kafka() in a build without Kafka's client (cmake/drivers.cmake).

#include "ouro/kafka.h"

namespace ouro {

Result<KafkaReport> serve_kafka(const KafkaOptions&) {
  return Error{.file = {},
               .line = {},
               .offset = {},
               .what =
                   "this build knows no Kafka: librdkafka was missing when it was built; install "
                   "librdkafka-dev, as 'scripts/setup build' does, and build again"};
}

}  // namespace ouro

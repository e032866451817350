module ouro/bench/porcupine

go 1.20

require github.com/anishathalye/porcupine v1.3.1

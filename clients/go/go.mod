module ouro

go 1.23

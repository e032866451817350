module ouro/tests

go 1.23

require (
	github.com/mattn/go-sqlite3 v1.14.52
	ouro v0.0.0
)

replace ouro => ../

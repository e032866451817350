package ouro

import (
	"database/sql"
	"encoding/json"
	"math"
	"math/big"
	"testing"
	"time"
)

type account int

func TestValuesAsNativeTextWritesThem(t *testing.T) {
	one := 1
	for want, value := range map[string]any{
		`null`:                       nil,
		`7`:                          account(7),
		`18446744073709551615`:       uint64(math.MaxUint64),
		`1`:                          &one,
		`-3`:                         big.NewInt(-3),
		`10.50`:                      json.Number("10.50"),
		`{"@float":0.25}`:            float32(0.25),
		`{"@float":"NaN"}`:           math.NaN(),
		`{"@float":"-Infinity"}`:     math.Inf(-1),
		`true`:                       true,
		`"a\"b"`:                     `a"b`,
		`"ff00"`:                     "\xff\x00",
		`"text"`:                     []byte("text"),
		`"2026-01-02T03:04:05.006Z"`: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC),
		`"12.5"`:                     sql.NullString{String: "12.5", Valid: true},
		`{"a":1,"b":null}`:           map[string]any{"b": nil, "a": 1},
		`[1,"two"]`:                  []any{1, "two"},
	} {
		if found, err := valueOf(value); err != nil || found != want {
			t.Errorf("%v: found %s, %v; expected %s", value, found, err, want)
		}
	}
	for _, value := range []any{struct{}{}, json.Number("ten"), []any{make(chan int)}} {
		if found, err := valueOf(value); err == nil {
			t.Errorf("%v became %s", value, found)
		}
	}
}

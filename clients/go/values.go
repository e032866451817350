package ouro

import (
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// textOf is a text as JSON. Bytes that are no UTF-8 become hexadecimal digits.
func textOf(text string) string {
	if !utf8.ValidString(text) {
		text = hex.EncodeToString([]byte(text))
	}
	quoted, _ := json.Marshal(text) // Of a valid text this cannot fail.
	return string(quoted)
}

func floatOf(number float64) string {
	switch {
	case math.IsNaN(number):
		return `{"@float":"NaN"}`
	case math.IsInf(number, 1):
		return `{"@float":"Infinity"}`
	case math.IsInf(number, -1):
		return `{"@float":"-Infinity"}`
	}
	return `{"@float":` + strconv.FormatFloat(number, 'g', -1, 64) + `}`
}

// nameOf is the name of a key: an integer or a text.
func nameOf(key any) (string, error) {
	switch value := reflect.ValueOf(key); value.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(value.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if value.Uint() <= math.MaxInt64 {
			return strconv.FormatUint(value.Uint(), 10), nil
		}
	case reflect.String:
		return textOf(value.String()), nil
	}
	return "", fmt.Errorf("ouro: %v (%T) is no key; give an integer of 64 bits or a text", key, key)
}

// valueOf is a value, a row (map[string]any) or a list ([]any) as native text writes it. Floats are
// floating-point numbers there; json.Number, *big.Int and integers are exact.
func valueOf(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "null", nil
	case string:
		return textOf(value), nil
	case []byte:
		if value == nil {
			return "null", nil
		}
		return textOf(string(value)), nil
	case bool:
		return strconv.FormatBool(value), nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case uint64:
		return strconv.FormatUint(value, 10), nil
	case float64:
		return floatOf(value), nil
	case json.Number:
		if encoded, err := json.Marshal(value); err == nil && value != "" {
			return string(encoded), nil
		}
		return "", fmt.Errorf("ouro: '%s' is no number", value)
	case *big.Int:
		if value == nil {
			return "null", nil
		}
		return value.String(), nil
	case time.Time:
		return textOf(value.UTC().Format(time.RFC3339Nano)), nil
	case map[string]any:
		return rowOf(value)
	case []any:
		return listOf(value)
	}
	if found := reflect.ValueOf(value); found.Kind() == reflect.Uint || found.Kind() == reflect.Uint64 {
		if _, converts := value.(driver.Valuer); !converts {
			return strconv.FormatUint(found.Uint(), 10), nil
		}
	}
	// Named types, pointers and driver.Valuer become what database/sql passes to drivers.
	plain, err := driver.DefaultParameterConverter.ConvertValue(value)
	if err != nil {
		return "", fmt.Errorf("ouro: a value of type %T cannot be recorded; make it an integer, a "+
			"float, a json.Number, a text, a bool, nil, a map[string]any of these, or a []any", value)
	}
	return valueOf(plain)
}

func rowOf(row map[string]any) (string, error) {
	columns := make([]string, 0, len(row))
	for column := range row {
		columns = append(columns, column)
	}
	sort.Strings(columns)
	parts := make([]string, 0, len(row))
	for _, column := range columns {
		text, err := valueOf(row[column])
		if err != nil {
			return "", err
		}
		parts = append(parts, textOf(column)+":"+text)
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

func listOf(list []any) (string, error) {
	parts := make([]string, 0, len(list))
	for _, element := range list {
		text, err := valueOf(element)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

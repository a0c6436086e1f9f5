package config

import (
	"slices"
	"testing"
)

// Each kind of value in a file is as a command line has it.
func TestTexts(t *testing.T) {
	for _, test := range []struct {
		value  any
		want   []string
		isList bool
		fails  bool
	}{
		{"a", []string{"a"}, false, false}, {true, []string{"true"}, false, false},
		{int64(-9222), []string{"-9222"}, false, false}, {[]any{"a", "b"}, []string{"a", "b"}, true, false},
		{[]any{}, nil, true, false}, {[]any{"a", int64(1)}, nil, true, true}, {1.5, nil, false, true},
		{map[string]any{}, nil, false, true},
	} {
		got, isList, err := Texts(test.value)
		if !slices.Equal(got, test.want) || isList != test.isList || (err != nil) != test.fails {
			t.Errorf("%v: %q, %v, %v", test.value, got, isList, err)
		}
	}
}

package vscodeipc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

const specDir = "../specs/window-protocol"

// readVectors decodes the vectors of one kind, one per line (spec 13). It fails if there
// are none, if two have one name, or if one has a member that T lacks.
func readVectors[T any](t testing.TB, kind string) (vectors []T) {
	t.Helper()
	file := filepath.Join(specDir, "vectors", kind+".jsonl")
	text := must.Get(os.ReadFile(file))(t)
	type label struct{ System, Name string }
	seen := map[label]bool{}
	for line := range bytes.Lines(text) {
		number := len(vectors) + 1
		var l label
		var v T
		if err := json.Unmarshal(line, &l); err != nil { // also fails if the line has more than one value
			t.Fatalf("%s:%d: %v", file, number, err)
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s:%d: %v", file, number, err)
		}
		if l.Name == "" || seen[l] {
			t.Fatalf("%s:%d: the name %q is empty or taken", file, number, l.Name)
		}
		seen[l] = true
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		t.Fatalf("no vectors in %s", file)
	}
	return vectors
}

// invalidVector is a vector of spec 13.3.
type invalidVector struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Lines       []json.RawMessage `json:"lines"`
	Expect      struct {
		Code   string          `json:"code"`
		ID     json.RawMessage `json:"id"`
		Data   map[string]any  `json:"data"`
		Closes bool            `json:"closes"`
	} `json:"expect"`
}

// input returns what the client sends.
func (v invalidVector) input(t testing.TB) []byte {
	t.Helper()
	var out []byte
	for _, raw := range v.Lines {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			out = append(append(out, text...), '\n')
			continue
		}
		var part struct {
			Hex    string `json:"hex"`
			Repeat string `json:"repeat"`
			Count  int    `json:"count"`
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		must.Do(t, d.Decode(&part))
		b := must.Get(hex.DecodeString(part.Hex))(t)
		out = append(out, b...)
		out = append(out, strings.Repeat(part.Repeat, part.Count)...)
	}
	return out
}

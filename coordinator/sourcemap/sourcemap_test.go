package sourcemap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	data, err := os.ReadFile("../page/testdata/shop/dist/app.js.map")
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := os.ReadFile("../page/testdata/shop/dist/app.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, guard := range []string{"", ")]}'\n"} {
		m, err := Parse([]byte(guard+string(data)), "http://localhost:1/dist/app.js.map")
		if err != nil {
			t.Fatal(err)
		}
		for words, want := range map[string]Position{
			"throw new":    {Source{URL: "http://localhost:1/src/cart.ts"}, 11, 7},
			"console.warn": {Source{URL: "http://localhost:1/src/app.ts"}, 7, 3},
		} {
			position, ok := m.Find(1, strings.Index(string(bundle), words)+1)
			if !ok || position.Source.URL != want.Source.URL || position.Line != want.Line || position.Column != want.Column ||
				position.Source.Content == nil {
				t.Errorf("%s: %+v %v, want %+v", words, position, ok, want)
			}
		}
		for _, place := range [][2]int{{0, 1}, {99, 1}} {
			if position, ok := m.Find(place[0], place[1]); ok {
				t.Errorf("%v is %+v", place, position)
			}
		}
	}
}

// Sections, a root, one-number segments and lines without any.
func TestSections(t *testing.T) {
	m, err := Parse([]byte(`{"version":3,"sections":[
{"offset":{"line":0,"column":10},
	"map":{"version":3,"sourceRoot":"webpack://x","sources":["a.ts"],"mappings":"AAAA,C;AACA"}},
{"offset":{"line":3,"column":0},
	"map":{"version":3,"sources":["b.ts",null],"mappings":";AAAA,CCAC"}}]}`), "http://localhost/js/all.map")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line, column int
		want         string
	}{
		{1, 5, ""}, {1, 11, "webpack://x/a.ts"}, {1, 12, ""}, {2, 1, "webpack://x/a.ts"}, {3, 1, ""},
		{5, 1, "http://localhost/js/b.ts"}, {5, 2, ""},
	} {
		position, ok := m.Find(test.line, test.column)
		if position.Source.URL != test.want || ok != (test.want != "" || test.column == 2) {
			t.Errorf("%d:%d is %+v %v, want %q", test.line, test.column, position, ok, test.want)
		}
	}
}

func TestBrokenMaps(t *testing.T) {
	for _, text := range []string{
		"", "[]", `{"version":2}`, `{"version":3,"sources":["a"],"mappings":"AAAAAA"}`,
		`{"version":3,"sources":["a"],"mappings":"AAAAA A"}`,
		`{"version":3,"sources":[],"mappings":"AAAA"}`, `{"version":3,"sources":["a"],"mappings":"AADA"}`,
		`{"version":3,"sources":["a"],"mappings":"gggggggggggggg"}`,
		`{"version":3,"sources":["a"],"mappings":"AA"}`, `{"version":3,"sections":[{}]}`,
		`{"version":3,"sources":["a"],"mappings":"D"}`,
	} {
		if _, err := Parse([]byte(text), ""); err == nil {
			t.Errorf("%s is no error", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["a.ts"],"mappings":"AAAA,C;AACA"}`), 1, 1)
	f.Add([]byte(`{"version":3,"sections":[{"offset":{"line":1,"column":2},`+
		`"map":{"version":3,"sources":["a"],"mappings":"AAAA"}}]}`), 2, 3)
	f.Fuzz(func(t *testing.T, data []byte, line, column int) {
		if len(data) > 1<<12 || strings.Contains(string(data), `"line":`) && len(data) > 1<<10 {
			return
		}
		m, err := Parse(data, "http://localhost/a.js.map")
		if err != nil {
			return
		}
		if position, ok := m.Find(line, column); ok && (position.Line < 1 || position.Column < 1) {
			t.Errorf("%+v", position)
		}
	})
}

func TestReference(t *testing.T) {
	for text, want := range map[string]string{
		"x()\n//# sourceMappingURL=app.js.map":                         "http://localhost/js/app.js.map",
		"x()\n//@ sourceMappingURL=/maps/app.map\n":                    "http://localhost/maps/app.map",
		"a{}/*# sourceMappingURL=a.css.map */":                         "http://localhost/js/a.css.map",
		"//# sourceMappingURL=old.map\n//# sourceMappingURL=new.map\n": "http://localhost/js/new.map",
		"//# sourceMappingURL=data:application/json;base64,e30=":       "data:application/json;base64,e30=",
		"no map":                   "",
		"//# sourceMappingURL= \n": "",
	} {
		if got := Reference(text, "http://localhost/js/app.js"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	base := t.TempDir()
	shop, outside := filepath.Join(base, "shop"), filepath.Join(base, "outside")
	for name, text := range map[string]string{
		"shop/src/cart.ts": "cart\r\n", "shop/index.ts": "ours", "outside/secret.ts": "secret", "shop/src/index.ts": "src",
	} {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(shop, "door")); err != nil {
		t.Fatal(err)
	}
	content := func(s string) *string { return &s }
	cart := filepath.Join(shop, "src", "cart.ts")
	for _, test := range []struct {
		source Source
		want   string
	}{
		{Source{URL: "webpack://shop/./src/cart.ts"}, cart},
		{Source{URL: "webpack:///src/cart.ts?1a2b"}, cart},
		{Source{URL: "http://localhost:5173/src/cart.ts"}, cart},
		{Source{URL: "http://localhost:5173/@fs" + filepath.ToSlash(cart)}, cart},
		{Source{URL: "file://" + filepath.ToSlash(cart)}, cart},
		{Source{URL: "webpack:///packages/shop/src/cart.ts", Content: content("cart\n")}, cart},
		{Source{URL: "webpack:///packages/shop/src/cart.ts"}, cart},
		{Source{URL: "webpack:///node_modules/lib/src/index.ts", Content: content("theirs")}, ""},
		{Source{URL: "webpack:///node_modules/lib/index.ts"}, ""},
		{Source{URL: "webpack:///lib/index.ts", Content: content("ours")}, filepath.Join(shop, "index.ts")},
		{Source{URL: "webpack:///index.ts", Content: content("edited since")}, filepath.Join(shop, "index.ts")},
		{Source{URL: "file://" + filepath.ToSlash(filepath.Join(outside, "secret.ts"))}, ""},
		{Source{URL: "http://localhost/@fs" + filepath.ToSlash(filepath.Join(outside, "secret.ts"))}, ""},
		{Source{URL: "webpack:///door/secret.ts"}, ""},
		{Source{URL: "webpack:///../outside/secret.ts"}, ""},
		{Source{URL: "webpack:///src"}, ""},
		{Source{URL: "%"}, ""},
	} {
		got, ok := File([]string{shop}, test.source)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, want %q", test.source.URL, got, test.want)
		}
	}
}

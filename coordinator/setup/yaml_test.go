package setup

import (
	"strings"
	"testing"
)

// TestYAML: an entry is added to YAML, and removed again, without a change of anything else.
func TestYAML(t *testing.T) {
	workspace := home(t)
	const entry = "  browser-coordinator:\n    type: \"stdio\"\n    name: \"browser-coordinator\"\n    enabled: true\n" +
		"    cmd: \"/opt/coordinator\"\n    args: [\"mcp\"]\n"
	wide := strings.ReplaceAll(entry, "\n  ", "\n    ")
	for _, c := range []struct{ before, after string }{
		{
			"# mine\nGOOSE_MODEL: x # fast\n\nextensions: # all\n" +
				"  # one\n  developer:\n    enabled: true\n\n# end\nother: [1, {a: b}]\n",
			"# mine\nGOOSE_MODEL: x # fast\n\nextensions: # all\n" + entry +
				"  # one\n  developer:\n    enabled: true\n\n# end\nother: [1, {a: b}]\n",
		},
		{
			"extensions:\n" +
				"    a:\n        cmd: 'b'\n        text: |\n            extensions:\n              c: 1\n",
			"extensions:\n  " + wide +
				"    a:\n        cmd: 'b'\n        text: |\n            extensions:\n              c: 1\n",
		},
		{
			"a: 1\r\nextensions:\r\n  b:\r\n    cmd: c\r\n",
			"a: 1\r\nextensions:\r\n" + strings.ReplaceAll(entry, "\n", "\r\n") + "  b:\r\n    cmd: c\r\n",
		},
		{"extensions: {}\nb: 2\n", "extensions:\n" + entry + "b: 2\n"},
	} {
		change, err := addTo(t, "goose", User, workspace, c.before, ours)
		if err != nil || change.After != c.after {
			t.Errorf("%q: %v\n%s\nwant\n%s", c.before, err, change.After, c.after)
			continue
		}
		if err := change.Write(); err != nil {
			t.Fatal(err)
		}
		removal, err := change.Host.Remove(User, workspace)
		if err != nil || removal.After != c.before {
			t.Errorf("removed: %v\n%s\nwant\n%s", err, removal.After, c.before)
		}
	}
}

// TestYAMLUpdate: of an entry that does not work only its command changes.
func TestYAMLUpdate(t *testing.T) {
	workspace := home(t)
	const gone = "extensions:\n  b:\n    cmd: /gone/coordinator # why\n" +
		"    args:\n      - mcp\n      - --headed\n    envs:\n      A: s3cr3t\n    timeout: 300\n"
	for _, c := range []struct {
		entry         Entry
		before, after string
	}{
		{ours, gone, strings.Replace(gone, "/gone/coordinator", `"/opt/coordinator"`, 1)},
		{ours.WithArgs([]string{"mcp"}), gone, strings.Replace(strings.Replace(gone, "/gone/coordinator",
			`"/opt/coordinator"`, 1),
			"args:\n      - mcp\n      - --headed", `args: ["mcp"]`, 1)},
	} {
		change, err := addTo(t, "goose", User, workspace, c.before, c.entry)
		if err != nil || change.After != c.after {
			t.Errorf("%v\n%s\nwant\n%s", err, change.After, c.after)
		}
	}
}

// TestYAMLRefused: what cannot be edited by whole lines stays as it is.
func TestYAMLRefused(t *testing.T) {
	workspace := home(t)
	const form = "its extensions are written in a form that this program cannot edit"
	for text, reason := range map[string]string{
		"extensions: {a: {cmd: b}}\n":                     form,
		"{a: 1}\n":                                        form,
		"a: &x\n  b: 1\nextensions: *x\n":                 "its extensions are written in a form",
		"a: 1\n---\nb: 2\n":                               "it has several documents",
		"a: 1\n  b: sk-planted\n":                         "it is not valid YAML: line",
		"- a\n":                                           "it is not valid YAML: line 1, a table is expected",
		"extensions:\n- a\n":                              "its extensions must contain the servers by their names",
		"extensions:\n  browser-coordinator: 1\n":         "its extensions.browser-coordinator must be a server",
		"extensions:\n  ? [a]\n  : b\nx: !!binary sk-x\n": "",
	} {
		change, err := addTo(t, "goose", User, workspace, text, ours)
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%q: %v, %+v", text, err, change)
		}
	}
}

// TestYAMLHidesNeighbours: only names are shown of what is not the coordinator's.
func TestYAMLHidesNeighbours(t *testing.T) {
	workspace := home(t)
	const text = "# s3cr3t\nkey: s3cr3t # s3cr3t\nlong: >\n  s3cr3t\n  s3cr3t: s3cr3t\n" +
		"list:\n  - s3cr3t\n  - token: s3cr3t\n  - [s3cr3t, {a: b}]\n" +
		"flow: {a: s3cr3t}\n\"quoted: name\": s3cr3t\nplain: a\n  s3cr3t\n" +
		"extensions:\n  x:\n    envs:\n      KEY: s3cr3t\n" +
		"  b:\n    cmd: /gone/coordinator\n    args: [mcp]\n    envs:\n      KEY: s3cr3t\n    n: s3cr3t\n"
	change, err := addTo(t, "goose", User, workspace, text, ours)
	if err != nil {
		t.Fatal(err)
	}
	removal, err := change.Host.Remove(User, workspace)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Change{change, removal} {
		before, after := c.Redacted()
		output := before + after + c.Diff()
		if strings.Contains(output, "s3cr3t") || !strings.Contains(output, "KEY: …") ||
			!strings.Contains(output, "gone/coordinator") {
			t.Errorf("shown:\n%s", output)
		}
	}
}

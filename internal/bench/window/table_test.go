package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	all, err := readGo([]byte("goos: linux\n" +
		"BenchmarkPing-2 	    5000	    700000 ns/op	     10000 p50-echo	     12000 p50-hop	" +
		"     16000 p50-ping	     20000 p99-echo	     21000 p99-hop	     30000 p99-ping" + `
BenchmarkPush-2 	    5000	     90000 ns/op	     80000 p50	   4000000 p99
BenchmarkFanOut100-2 	 500	   1900000 ns/op	   1800000 p50	   4000000 p99
BenchmarkProbe500-2 	  50	  60000000 ns/op	  50000000 p50	  90000000 p99
BenchmarkReconnect-2 	5000	    200000 ns/op	    150000 p50	    900000 p99
BenchmarkMessages100000-2	10	 300000000 ns/op	      -512 grown
PASS
`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := markdown(all); err == nil || !strings.Contains(err.Error(), "TypeScript p50-ping") {
		t.Errorf("without the figures of TypeScript: %v", err)
	}
	theirs, err := readTypeScript([]byte(`{"files": [{"groups": [{"benchmarks": [
		{"name": "echo", "median": 0.007, "p99": 0.02}, {"name": "ping", "median": 0.0098, "p99": 0.04}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range theirs {
		all[name] = value
	}
	text, err := markdown(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| ping, Go | 16.0 | 30.0 |",
		"| ping, TypeScript | 9.8 | 40.0 |",
		"| probe of 500 sockets, 250 of them dead | 50000 | 90000 |",
		"a bare echo: 1.60, **missed**",
		"a bare echo: 1.40, held",
		"at the most 5 ms: 4.00, held",
		"at the most 256 kB: -0.50, held",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

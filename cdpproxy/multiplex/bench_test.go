//go:build unix

package multiplex_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"browser-coordinator/internal/cdptest"
)

// BenchmarkWays compares the pipe with a port of the same browser, in the same
// page, alternately. It reports the medians of a client's waits.
func BenchmarkWays(b *testing.B) {
	for _, step := range []struct {
		name   string
		turn   int // commands in a row by one way
		method string
		params string
	}{
		{"evaluate", 50, "Runtime.evaluate", `{"expression":"1 + 1"}`},
		{"screenshot-1080p", 1, "Page.captureScreenshot", `{}`},
		{"response-50MB", 1, "Runtime.evaluate", `{"expression":"'x'.repeat(50 << 20)","returnByValue":true}`},
	} {
		b.Run(step.name, func(b *testing.B) {
			chromium := start(b)
			ways := []string{"port", "pipe"}
			clients := map[string]*cdptest.Client{}
			sessions := map[string]string{}
			var target string
			for _, name := range ways {
				c := cdptest.Dial(b, chromium.ways()[name])
				if target == "" {
					target, _ = open(b, c,
						"data:text/html,<body style='background:linear-gradient(red,blue)'>"+fmt.Sprint(time.Now()))
				}
				clients[name], sessions[name] = c, c.Attach(target)
				c.Call(sessions[name], "Emulation.setDeviceMetricsOverride",
					`{"width":1920,"height":1080,"deviceScaleFactor":1,"mobile":false}`, nil)
				for range 3 {
					c.Call(sessions[name], step.method, step.params, nil)
				}
			}
			took := map[string][]time.Duration{}
			for b.Loop() {
				for _, name := range ways {
					for range step.turn {
						begin := time.Now()
						clients[name].Try(sessions[name], step.method, step.params)
						took[name] = append(took[name], time.Since(begin))
					}
				}
				slices.Reverse(ways)
			}
			median := func(name string) float64 {
				slices.Sort(took[name])
				return float64(took[name][len(took[name])/2]) / float64(time.Millisecond)
			}
			b.ReportMetric(median("port"), "port-ms")
			b.ReportMetric(median("pipe"), "pipe-ms")
			b.ReportMetric(median("pipe")/median("port"), "pipe/port")
			b.ReportMetric(0, "ns/op")
		})
	}
}

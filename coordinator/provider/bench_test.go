package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/gridtest"
)

// BenchmarkWays compares three ways to one page of a grid's browser, alternately: straight
// to the browser on its node, over the grid, and over the coordinator and the grid.
func BenchmarkWays(b *testing.B) {
	grid := gridtest.Start(b, gridtest.Options{})
	browser, _ := on(b, grid.URL())
	coordinator := open(b, browser)
	session := sessions(b, grid)[0]
	ways := map[string]*cdptest.Client{
		"node":        cdptest.Dial(b, onNode(b, grid, session)),
		"grid":        cdptest.Dial(b, "ws"+strings.TrimPrefix(grid.URL(), "http")+"/session/"+session+"/se/cdp"),
		"coordinator": cdptest.Dial(b, coordinator),
	}
	var created struct{ TargetID string }
	ways["node"].Call("", "Target.createTarget", `{"url":"about:blank"}`, &created)
	names, attached := []string{"node", "grid", "coordinator"}, map[string]string{}
	for _, name := range names {
		attached[name] = ways[name].Attach(created.TargetID)
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range names {
			for range 50 {
				begin := time.Now()
				ways[name].Try(attached[name], "Runtime.evaluate", `{"expression":"1 + 1"}`)
				took[name] = append(took[name], time.Since(begin))
			}
		}
		slices.Reverse(names)
	}
	at := func(name string, share float64) float64 {
		slices.Sort(took[name])
		return float64(took[name][int(float64(len(took[name])-1)*share)]) / float64(time.Microsecond)
	}
	for _, name := range names {
		b.ReportMetric(at(name, 0.5), name+"-p50-µs")
		b.ReportMetric(at(name, 0.99), name+"-p99-µs")
	}
	b.ReportMetric(at("grid", 0.5)/at("node", 0.5), "grid/node")
	b.ReportMetric(at("coordinator", 0.5)/at("node", 0.5), "coordinator/node")
	b.ReportMetric(at("coordinator", 0.5)/at("grid", 0.5), "coordinator/grid")
	b.ReportMetric(0, "ns/op")
}

// onNode is the address of a session's browser on its node, which only this machine
// reaches.
func onNode(b *testing.B, grid *gridtest.Grid, session string) string {
	b.Helper()
	var status struct {
		Value struct {
			Nodes []struct {
				Slots []struct {
					Session *struct {
						Capabilities struct {
							Options struct{ DebuggerAddress string } `json:"goog:chromeOptions"`
						}
					}
				}
			}
		}
	}
	if _, body := cdptest.Request(b, http.MethodGet, grid.URL()+"/status"); json.Unmarshal([]byte(body), &status) != nil {
		b.Fatal(body)
	}
	for _, node := range status.Value.Nodes {
		for _, slot := range node.Slots {
			if slot.Session == nil {
				continue
			}
			_, body := cdptest.Request(b, http.MethodGet, fmt.Sprintf("http://%s/json/version", slot.Session.Capabilities.Options.DebuggerAddress))
			var version struct{ WebSocketDebuggerURL string }
			if err := json.Unmarshal([]byte(body), &version); err != nil {
				b.Fatal(body)
			}
			return version.WebSocketDebuggerURL
		}
	}
	b.Fatalf("the grid has no session %s", session)
	return ""
}

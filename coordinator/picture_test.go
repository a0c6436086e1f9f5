package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// sizes is what a page knows of its size.
const sizes = `() => [innerWidth, innerHeight, devicePixelRatio, visualViewport.scale, scrollY].join()`

// Two agents take pictures of one page at the same moment: of the viewport, of a part, of an element and
// of the full page. The page then has its size, and is drawn in it.
func TestTwoAgentsPictures(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>Shop</title><body style="margin:0"><button>Buy</button>
<div style="height:3000px;background:linear-gradient(red,blue)"></div>`)
	}))
	defer site.Close()
	dir, shop := t.TempDir(), t.TempDir()
	openWindow(t, dir, shop)
	opener := host(t, dir, shop)
	opener.Open(site.URL)
	must.Do(t, opener.Close()) // else it would keep the page for itself
	first, second := host(t, dir, shop), host(t, dir, shop)
	before, drawn := first.Evaluate(sizes), drawnSize(t, first)
	full, element := args{"fullPage": true}, args{"target": "button"}
	clip, webp := args{"clip": "0,0,60,40"}, args{"clip": "0,0,60,40", "type": "webp"}
	first.Must("browser_take_screenshot", full) // since then the page is the first agent's, and the other one only looks
	for round, pair := range [][2]args{
		{full, clip}, {full, webp}, {full, {}}, {full, {"marks": true}}, {element, clip}, {webp, webp}, {clip, clip},
	} {
		var taking sync.WaitGroup
		for range longtest.Form(t, 3, 20) {
			for n, agent := range []*toolstest.Agent{first, second} {
				taking.Go(func() {
					if text, err := agent.Call("browser_take_screenshot", pair[n]); err != nil {
						t.Errorf("round %d: %v: %s %v", round, pair[n], text, err)
					}
				})
			}
			taking.Wait()
			if after := first.Evaluate(sizes); after != before {
				t.Fatalf("round %d, %v: the page is %s, was %s", round, pair, after, before)
			}
			if after := drawnSize(t, second); after != drawn {
				t.Fatalf("round %d, %v: %s are drawn, were %s", round, pair, after, drawn)
			}
		}
	}
}

// drawnSize is the size of what the page draws, as another client sees it.
func drawnSize(t *testing.T, agent *toolstest.Agent) string {
	t.Helper()
	text, _, _ := strings.Cut(agent.Must("browser_take_screenshot", args{"scale": "device"}), " CSS pixels")
	return text
}

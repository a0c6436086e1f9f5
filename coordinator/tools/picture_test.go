package tools_test

import (
	"bytes"
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/pagetest"
	"browser-coordinator/internal/toolstest"
)

// pictures takes a screenshot, and returns the text of the answer and its pictures.
func pictures(t *testing.T, agent *toolstest.Agent, a args) (text string, all []image.Image) {
	t.Helper()
	res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_take_screenshot", Arguments: a})
	if err != nil || res.IsError {
		t.Fatalf("%+v %v", res, err)
	}
	for _, content := range res.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			text += content.Text + "\n"
		case *mcp.ImageContent:
			picture, _, err := image.Decode(bytes.NewReader(content.Data))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, picture)
		}
	}
	return text, all
}

// is reports whether a pixel has a colour of which each part is 0 or 255.
func is(picture image.Image, x, y int, red, green, blue uint32) bool {
	r, g, b, _ := picture.At(x, y).RGBA()
	return r>>8 == red && g>>8 == green && b>>8 == blue
}

var shape = regexp.MustCompile(`(\d+) × (\d+) CSS pixels from (\d+),(\d+) of the (viewport|page), (\S+) pixels? each`)

func TestPicturesThatAModelCanRead(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			fmt.Fprint(w, `<!doctype html><body style="margin:0"><button style="width:80px;height:40px">In</button>`)
			return
		}
		_, port, _ := strings.Cut(r.Host, ":")
		fmt.Fprintf(w, `<!doctype html><title>Long</title><body style="margin:0;background:white">
<script>
changes = 0;
new MutationObserver(() => changes++).observe(document, {subtree: true, childList: true, attributes: true});
</script>
<button style="position:absolute;left:100px;top:60px;width:90px;height:40px">First</button>
<iframe src="http://localhost:%s/in" style="position:absolute;left:300px;top:200px;border:0"></iframe>
<button id=covered style="position:absolute;left:500px;top:60px">Covered</button>
<div style="position:absolute;left:480px;top:40px;width:200px;height:100px;background:white"></div>
<div id=spot onclick="document.title = 'hit'"
  style="position:absolute;left:640px;top:400px;width:8px;height:8px;background:#f00"></div>
<div style="position:absolute;top:1600px;height:40px;width:100px;background:#00f"></div>
<div style="height:9000px"></div>`, port)
	}))
	t.Cleanup(site.Close)
	agent := toolstest.Start(t, options{Launcher: pagetest.Attached(t, toolstest.Browser(t).URL()), Attached: true},
		"vision")
	agent.Open(site.URL)

	// A tall page comes as several pictures in full size, and a line has the rest.
	text, all := pictures(t, agent, args{"fullPage": true})
	if len(all) != 4 || all[0].Bounds().Dy() != 1568 {
		t.Fatalf("%d pictures: %s", len(all), text)
	}
	if !is(all[1], 50, 1600-1568+20, 0, 0, 255) {
		t.Error("the second picture does not begin where the first ends")
	}
	rest := regexp.MustCompile(`Left out below it: (\d+) CSS pixels\. Take them with fullPage and clip (\S+)\.`).
		FindStringSubmatch(text)
	if rest == nil || number(t, rest[1]) != 9000-4*1568 {
		t.Fatalf("what is left out: %s", text)
	}
	if text, all := pictures(t, agent, args{"fullPage": true, "clip": rest[2]}); len(all) != 2 ||
		strings.Contains(text, "Left out") || !strings.Contains(text, "from 0,6272 of the page") {
		t.Errorf("%d pictures of the rest: %s", len(all), text)
	}

	// A click by the coordinates of a picture hits, in whatever scale it is.
	for _, a := range []args{{}, {"clip": "600,380,100,60"}, {"target": "#spot"}, {"scale": "device"}} {
		agent.Evaluate("() => { document.title = 'Long' }")
		text, all := pictures(t, agent, a)
		part := shape.FindStringSubmatch(text)
		if part == nil {
			t.Fatalf("%v: %s", a, text)
		}
		scale, err := strconv.ParseFloat(strings.Replace(part[6], "a", "1", 1), 64)
		if err != nil {
			t.Fatal(err)
		}
		size, point := all[0].Bounds().Size(), image.Pt(-1, -1)
		for i := range size.X * size.Y {
			if is(all[0], i%size.X, i/size.X, 255, 0, 0) {
				point = image.Pt(i%size.X, i/size.X)
				break
			}
		}
		agent.Must("browser_mouse_click_xy", args{"x": float64(number(t, part[3])) + float64(point.X+1)/scale,
			"y": float64(number(t, part[4])) + float64(point.Y+1)/scale})
		agent.ExpectValue("() => document.title", `"hit"`)
	}

	// Refs are drawn around their elements, also in a frame of another site, not around what is
	// covered; the page does not notice.
	before := agent.Evaluate("() => changes")
	_, plain := pictures(t, agent, args{})
	_, marked := pictures(t, agent, args{"marks": true})
	differs := func(x, y int) bool {
		r, g, b, _ := plain[0].At(x, y).RGBA()
		return !is(marked[0], x, y, r>>8, g>>8, b>>8)
	}
	for point, want := range map[image.Point]bool{
		{190 - 1, 80}: true, {100, 60 - 8}: true, {380 - 1, 220}: true, {500, 70}: false, {800, 80}: false,
	} {
		if differs(point.X, point.Y) != want {
			t.Errorf("at %v is a mark: %t", point, !want)
		}
	}
	if after := agent.Evaluate("() => changes"); after != before {
		t.Errorf("the page saw %s changes, before %s", after, before)
	}
	agent.Refused("browser_take_screenshot", args{"marks": true, "type": "webp"}, "png and jpeg")
}

// A picture with as much detail as there can be stays small enough for an answer, in each
// format.
func TestPicturesHaveABudget(t *testing.T) {
	t.Parallel()
	agent := openPage(t, `<!doctype html><body style="margin:0"><canvas width=1568 height=5000></canvas><script>
const area = document.querySelector("canvas").getContext("2d"), pixels = area.createImageData(1568, 5000);
let seed = 1;
for (let i = 0; i < pixels.data.length; i++)
  pixels.data[i] = i % 4 == 3 ? 255 : (seed = seed * 16807 % 2147483647) & 255;
area.putImageData(pixels, 0, 0);
</script>`)
	agent.Must("browser_emulate", args{"viewport": "1568x1568"})
	for _, a := range []args{{}, {"fullPage": true}, {"marks": true}, {"type": "jpeg", "quality": 100},
		{"type": "webp", "quality": 100, "fullPage": true}} {
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_take_screenshot", Arguments: a})
		if err != nil || res.IsError {
			t.Fatalf("%v: %+v %v", a, res, err)
		}
		for _, content := range res.Content {
			picture, ok := content.(*mcp.ImageContent)
			if !ok {
				continue
			}
			if len(picture.Data) > 1_000_000 {
				t.Errorf("%v: a picture of %d bytes", a, len(picture.Data))
			}
			if _, format, err := image.Decode(bytes.NewReader(picture.Data)); err != nil ||
				"image/"+format != picture.MIMEType {
				t.Errorf("%v: %s, which is %s: %v", a, picture.MIMEType, format, err)
			}
		}
		if text := res.Content[0].(*mcp.TextContent).Text; a["type"] != "webp" &&
			!strings.Contains(text, "The picture is a JPEG of quality ") {
			t.Errorf("%v: %s", a, text)
		}
	}
}

package capture_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

func TestPDF(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, "<!doctype html><p>paper")
	if data, err := p.Screen().PDF(t.Context()); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("%.20q %v", data, err)
	}
}

// Sizes and positions are in CSS pixels.
func TestZoomed(t *testing.T) {
	pagetest.Zoomed(t, func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){
			"screenshots": TestScreenshots, "parts": TestScreenshotParts, "clips": TestClipOutside,
			"long page":    TestPictureOfALongPage,
			"sticky parts": TestPictureBesideStickyParts, "frames": TestPicturesInTransformedFrames,
		} {
			if name == "long page" && testing.Short() {
				continue // it takes as long as the others together
			}
			t.Run(name, test)
		}
	})
}

// A site that the user has zoomed, in a new background tab: it applies the zoom only when
// it is drawn, and the first click must not come before. The zoom is that of the host. The
// test is alone in the browser, because it brings a tab to the front.
func TestSiteZoomedByTheUser(t *testing.T) {
	user, address := pagetest.Open(t, "<body style=margin:0><script>clicks = []; "+
		"onclick = e => clicks.push(e.clientX, e.clientY)</script>")
	address = strings.Replace(address, "127.0.0.1", "zoomed.localhost", 1)
	pagetest.Navigate(t, user, address)
	if err := user.Session().Call(t.Context(), "Page.bringToFront", nil, nil); err != nil {
		t.Fatal(err)
	}
	pagetest.Act(t, user, user.Input().PressKey("Control++"))
	defer func() { pagetest.Act(t, user, user.Input().PressKey("Control+0")) }()
	pagetest.WaitFor(t, user, page.WaitOptions{Expression: "devicePixelRatio > 1"})
	for range 10 {
		p := pagetest.NewPage(t, pagetest.Connect(t))
		pagetest.Navigate(t, p, address)
		pagetest.Act(t, p, p.Input().Vision().Click(150, 20, "", 1, 0))
		pagetest.Expect(t, p, "clicks.join()", `"150,20"`)
		pagetest.Expect(t, p, "devicePixelRatio > 1", "true")
	}
}

func TestScreenshots(t *testing.T) {
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{margin:0}</style>
<div id=d style="margin:50px;width:200px;height:100px;background:red"></div>
<div style="height:4000px"></div><div id=low style="width:300px;height:40px">low</div>`)
	for _, test := range []struct {
		name          string
		opts          capture.Options
		width, height int
		magic         string
	}{
		{"element", capture.Options{Target: "#d"}, 200, 100, "\x89PNG"},
		{"far element", capture.Options{Target: "#low", Format: "jpeg", Quality: 50}, 300, 40, "\xff\xd8"},
		{"scaled", capture.Options{Target: "#d", MaxWidth: 100, MaxHeight: 40}, 80, 40, "\x89PNG"},
		{"webp", capture.Options{Target: "#d", Format: "webp"}, 200, 100, "RIFF"},
		{"full page", capture.Options{FullPage: true, MaxHeight: 400}, 0, 400, "\x89PNG"},
	} {
		img, err := p.Screen().Screenshot(t.Context(), test.opts)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if test.width != 0 && img.Width != test.width || img.Height != test.height ||
			!strings.HasPrefix(string(img.Data), test.magic) {
			t.Errorf("%s: %dx%d %q", test.name, img.Width, img.Height, img.Data[:4])
		}
	}
	viewport := emulation.Settings{Viewport: &emulation.Viewport{Width: 640, Height: 480}}
	if _, err := p.Emulate(t.Context(), viewport); err != nil {
		t.Error(err)
	}
	if img, err := p.Screen().Screenshot(t.Context(), capture.Options{}); err != nil || img.Width != 640 ||
		img.Height != 480 {
		t.Errorf("after resizing: %dx%d %v", img.Width, img.Height, err)
	}
	viewport.Viewport = &emulation.Viewport{Width: 0, Height: 480}
	if _, err := p.Emulate(t.Context(), viewport); err == nil {
		t.Error("a viewport without width is no error")
	}
	for _, bad := range []capture.Options{{Format: "gif"}, {Target: "#d", FullPage: true}, {Target: "#none"}} {
		if _, err := p.Screen().Screenshot(t.Context(), bad); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}

// On a screen with two pixels per CSS pixel: parts of the page, with the colours in the
// right places.
func TestScreenshotParts(t *testing.T) {
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{margin:0}div{width:50px;height:50px}</style><div style="background:red"></div>
<div style="background:lime"></div><div style="height:3000px"></div><div style="background:blue"></div>`)
	viewport := emulation.Settings{Viewport: &emulation.Viewport{Width: 400, Height: 300, Scale: 2}}
	if _, err := p.Emulate(t.Context(), viewport); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name          string
		opts          capture.Options
		width, height int
		r, g, b       uint32 // of the middle
	}{
		{"css pixels", capture.Options{Clip: &capture.Clip{0, 0, 50, 50}}, 50, 50, 255, 0, 0},
		{"device pixels", capture.Options{Clip: &capture.Clip{0, 50, 50, 50}, Device: true}, 100, 100, 0, 255, 0},
		{"device pixels, limited",
			capture.Options{Clip: &capture.Clip{0, 50, 50, 50}, Device: true, MaxWidth: 80}, 80, 80, 0, 255, 0},
		{"of the whole page", capture.Options{FullPage: true, Clip: &capture.Clip{0, 3100, 40, 20}}, 40, 20, 0, 0, 255},
		{"viewport", capture.Options{}, 400, 300, 255, 255, 255},
		{"an element", capture.Options{Target: "div:nth-of-type(2)"}, 50, 50, 0, 255, 0},
	} {
		img, err := p.Screen().Screenshot(t.Context(), test.opts)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		size := pagetest.Decode(t, img).Bounds()
		if got := middle(t, img); size.Dx() != test.width || size.Dy() != test.height ||
			got != [3]uint32{test.r, test.g, test.b} {
			t.Errorf("%s: %d × %d, middle %v", test.name, size.Dx(), size.Dy(), got)
		}
	}
	for _, bad := range []capture.Options{
		{Clip: &capture.Clip{0, 0, 0, 5}},
		{Target: "div", Clip: &capture.Clip{0, 0, 5, 5}},
		{Format: "jpeg", Quality: 101},
	} {
		if _, err := p.Screen().Screenshot(t.Context(), bad); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}

func TestClipOutside(t *testing.T) {
	p, _ := pagetest.Open(t, "<p>p")
	viewport := emulation.Settings{Viewport: &emulation.Viewport{Width: 1000, Height: 600}}
	if _, err := p.Emulate(t.Context(), viewport); err != nil {
		t.Fatal(err)
	}
	_, err := p.Screen().Screenshot(t.Context(),
		capture.Options{Clip: &capture.Clip{X: 5000, Y: 5000, Width: 10, Height: 10}})
	if err == nil || !strings.Contains(err.Error(), "the clip is outside of the viewport, which has 1000×600 CSS") {
		t.Errorf("%v", err)
	}
	// A clip that is partly outside is cropped, on any side.
	for _, test := range []struct {
		clip          capture.Clip
		full          bool
		width, height int
	}{
		{capture.Clip{X: 5, Y: 5, Width: 10, Height: 10}, false, 10, 10},
		{capture.Clip{X: 990, Y: 20, Width: 50, Height: 30}, false, 10, 30},
		{capture.Clip{X: -20, Y: -5, Width: 50, Height: 30}, false, 30, 25},
		{capture.Clip{X: -20, Y: 0, Width: 2000, Height: 30}, true, 1000, 30},
	} {
		img, err := p.Screen().Screenshot(t.Context(), capture.Options{Clip: &test.clip, FullPage: test.full})
		if err != nil || img.Width != test.width || img.Height != test.height ||
			img.Cropped != (test.clip.Width != float64(test.width)) {
			t.Errorf("%+v: %d × %d, cropped %v, %v", test.clip, img.Width, img.Height, img.Cropped, err)
		}
	}
}

// A page that is longer than an image can be is cut, and the result reports it. The cases
// run one after the other, because each changes the size in which the page is drawn.
func TestPictureOfALongPage(t *testing.T) {
	p, _ := pagetest.Open(t, `<!doctype html>
<body style="margin:0"><div style="height:20000px;width:200px;background:linear-gradient(red,blue)">`)
	for range 2 {
		for _, test := range []struct {
			opts   capture.Options
			height int
			cut    bool
		}{
			{capture.Options{FullPage: true}, 16384, true},
			{capture.Options{FullPage: true, MaxHeight: 1000}, 1000, false},
			{capture.Options{FullPage: true, Clip: &capture.Clip{Y: 19_000, Width: 200, Height: 1000}}, 1000, false},
		} {
			img, err := p.Screen().Screenshot(t.Context(), test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if img.Truncated != test.cut || img.Height != test.height {
				t.Errorf("%+v: %d × %d of %+v, cut %v", test.opts, img.Width, img.Height, img.Area, img.Truncated)
			}
			// From red at the top of the page to blue at its end.
			pixels := pagetest.Decode(t, img)
			bottom := pixels.Bounds().Max.Y - 5
			red, _, _, _ := pixels.At(20, 5).RGBA()
			_, _, blue, _ := pixels.At(20*img.Width/1000, bottom).RGBA()
			if top := test.opts.Clip == nil; top && red>>8 < 240 || !test.cut && blue>>8 < 240 {
				t.Errorf("%+v: red %d at the top, blue %d at the bottom", test.opts, red>>8, blue>>8)
			}
		}
	}
}

// Frames that are scaled, rotated and scrolled, of the same and of another site: the
// image of an element shows its real place.
func TestPicturesInTransformedFrames(t *testing.T) {
	transforms := []string{"scale(0.5)", "scale(1.5, 0.75) translate(20px, 10px)", "rotate(30deg)", "rotate(180deg)"}
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, inner := strings.CutPrefix(r.URL.Path, "/in/"); inner {
			fmt.Fprintf(w, `<!doctype html><div style="height:500px"></div>
<button style="margin-left:150px;width:60px;height:20px;background:red;color:red;border:0">In %s</button>
<div style="height:100px"></div>`, name)
			return
		}
		_, port, _ := strings.Cut(r.Host, ":")
		fmt.Fprint(w, `<!doctype html><style>iframe{width:300px;height:200px;border:9px solid;padding:7px;margin:60px}</style>
<div style="height:300px"></div>`)
		for i, transform := range transforms {
			fmt.Fprintf(w, `<iframe style="transform:%s" src="/in/same%d"></iframe>
<iframe style="transform:%[1]s" src="http://localhost:%[3]s/in/other%[2]d"></iframe>`, transform, i, port)
		}
		fmt.Fprint(w, `<div style="height:900px"></div>`)
	}))
	text := pagetest.Snapshot(t, p)
	for i, transform := range transforms {
		for _, name := range []string{"same", "other"} {
			img, err := p.Screen().Screenshot(t.Context(),
				capture.Options{Target: pagetest.Ref(t, text, fmt.Sprintf("In %s%d", name, i))})
			if err != nil {
				t.Errorf("%s, %s: %v", transform, name, err)
				continue
			}
			if got := middle(t, img); got != [3]uint32{255, 0, 0} {
				t.Errorf("%s, %s: the middle of its image (%d × %d) is %v", transform, name, img.Width, img.Height, got)
			}
		}
	}
}

// Sticky parts at the window's edges do not cover an element in its image.
func TestPictureBesideStickyParts(t *testing.T) {
	p, _ := pagetest.Open(t, `<!doctype html>
<style>body{margin:0}header,footer{position:fixed;left:0;right:0;height:100px;background:blue}
footer{bottom:0}button{display:block;margin:1500px 0;width:200px;height:60px;background:red;color:red;border:0}</style>
<header></header><button>one</button><button>two</button><footer></footer>`)
	text := pagetest.Snapshot(t, p)
	for _, name := range []string{"two", "one", "two"} {
		img, err := p.Screen().Screenshot(t.Context(), capture.Options{Target: pagetest.Ref(t, text, name)})
		if err != nil {
			t.Fatal(err)
		}
		if got := middle(t, img); got != [3]uint32{255, 0, 0} {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A page that is wider than the window and scrolls from the right: images show the right
// place there, too.
func TestPicturesFromRightToLeft(t *testing.T) {
	t.Parallel()
	for _, style := range []string{"direction:rtl", "writing-mode:vertical-rl", "direction:rtl;writing-mode:sideways-lr"} {
		p, _ := pagetest.Open(t, `<!doctype html><html style="`+style+`;background:lime"><style>
div,i{position:absolute;inset-inline-start:2000px;inset-block-start:1500px;width:60px;height:40px;background:red}
i{margin:2000px}p{position:fixed;left:100px;top:100px;width:60px;height:40px;margin:0;background:blue}
</style><div></div><i></i><p></p>`)
		for range 2 { // the first one scrolls
			for _, test := range []struct {
				opts capture.Options
				want [3]uint32
			}{
				{capture.Options{Clip: &capture.Clip{100, 100, 60, 40}}, [3]uint32{0, 0, 255}},
				{capture.Options{Target: "p"}, [3]uint32{0, 0, 255}},
				{capture.Options{Target: "div"}, [3]uint32{255, 0, 0}},
				{capture.Options{}, [3]uint32{255, 0, 0}}, // the element is in the middle now
			} {
				img, err := p.Screen().Screenshot(t.Context(), test.opts)
				if err != nil {
					t.Fatal(err)
				}
				if got := middle(t, img); got != test.want {
					t.Errorf("%s: %+v: %v", style, test.opts, got)
				}
			}
		}
	}
}

// middle is the colour in the middle of an image: red, green and blue, up to 255.
func middle(t *testing.T, img capture.Image) [3]uint32 {
	t.Helper()
	pixels := pagetest.Decode(t, img)
	r, g, b, _ := pixels.At(pixels.Bounds().Dx()/2, pixels.Bounds().Dy()/2).RGBA()
	return [3]uint32{r >> 8, g >> 8, b >> 8}
}

package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
)

// played is what a browser shows of a video.
type played struct {
	Duration, Width, Height float64
	Seekable                float64
	Colors                  [][3]int // at the wanted times and points
}

// play plays a video in the agent's browser: the colours at these times (s) and points.
func play(t *testing.T, agent *toolstest.Agent, file string, at ...[3]float64) (p played) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/video.webm" {
			http.ServeContent(w, r, "video.webm", time.Time{}, bytes.NewReader(data))
			return
		}
		fmt.Fprint(w, `<!doctype html><video src=/video.webm muted preload=auto></video>`)
	})
	agent.Open(url)
	times, _ := json.Marshal(at)
	text := agent.Evaluate(`async () => {
		const video = document.querySelector("video");
		if (video.readyState < 2) await new Promise((done, fail) => {
			video.onloadeddata = done;
			video.onerror = () => fail(new Error(video.error.message));
		});
		const shown = { duration: video.duration, width: video.videoWidth, height: video.videoHeight,
			seekable: video.seekable.end(0), colors: [] };
		const canvas = new OffscreenCanvas(shown.width, shown.height).getContext("2d");
		for (const [time, x, y] of ` + string(times) + `) {
			await new Promise((done) => { video.onseeked = done; video.currentTime = time; });
			canvas.drawImage(video, 0, 0);
			shown.colors.push([...canvas.getImageData(x, y, 1, 1).data.slice(0, 3)]);
		}
		return shown;
	}`)
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return p
}

func near(color, want [3]int) bool {
	for i := range color {
		if d := color[i] - want[i]; d < -40 || d > 40 {
			return false
		}
	}
	return true
}

// storyboard reads a storyboard that was saved.
func storyboard(t *testing.T, agent *toolstest.Agent, name string) image.Image {
	t.Helper()
	file, err := os.Open(agent.Saved(name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sheet, err := jpeg.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return sheet
}

func colorAt(sheet image.Image, x, y int) [3]int {
	r, g, b, _ := sheet.At(x, y).RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

// A video shows what happened when, with the element of the action, in a file that players
// know the length of.
func TestVideo(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title>
		<body style="margin: 0; height: 100vh; background: rgb(255, 0, 0)">
		<button style="position: absolute; left: 200px; top: 100px; width: 200px; height: 100px; background: white; border: 0"
			onclick="document.body.style.background = 'rgb(0, 0, 255)'">Order</button>`)
	agent := toolstest.OpenWindow(t).Agent("devtools")
	agent.Open(url)
	agent.Must("browser_emulate", args{"viewport": "640x480"})
	agent.Expect("browser_start_video", args{"filename": "order"}, "has begun")
	agent.Refused("browser_start_video", args{}, "already")
	began := time.Now()
	agent.Must("browser_wait_for", args{"time": 2})
	clicked := time.Since(began).Seconds()
	agent.Must("browser_steps", args{"steps": []args{{"action": "click", "target": `button "Order"`}}})
	done := time.Since(began).Seconds()
	agent.Expect("browser_storyboard", args{"filename": "board.jpeg"}, "board.jpeg")
	agent.Must("browser_wait_for", args{"time": 3.5})
	ended := time.Since(began).Seconds()
	agent.Expect("browser_stop_video", args{}, "order.webm", " chapters")
	agent.Refused("browser_stop_video", args{}, "no video")
	agent.Refused("browser_storyboard", args{}, "browser_start_video")

	file := agent.Saved("order.webm")
	sheet := storyboard(t, agent, "board.jpeg")
	// The click, with the button marked, while the page was red.
	if size := sheet.Bounds().Size(); size.X != 272 || size.Y != 230 {
		t.Errorf("storyboard: %v", size)
	}
	if color := colorAt(sheet, 30, 40); !near(color, [3]int{255, 0, 0}) {
		t.Errorf("the page in the storyboard: %v", color)
	}
	if mark := colorAt(sheet, 87, 90); mark[0] < 180 || mark[1] < 40 || mark[2] > 130 {
		t.Errorf("the element's mark in the storyboard: %v", mark)
	}
	data, _ := os.ReadFile(file)
	if title := `click button "Order"`; !bytes.Contains(data, []byte(title)) {
		t.Errorf("no chapter %q", title)
	}
	p := play(t, agent, file, [3]float64{clicked - 0.5, 600, 50}, [3]float64{done + 0.5, 600, 50},
		[3]float64{done + 0.5, 198, 150}, [3]float64{ended - 0.3, 600, 50}, [3]float64{ended - 0.3, 198, 150})
	t.Logf("%+v; clicked at %.1f to %.1f, ended at %.1f", p, clicked, done, ended)
	if p.Width != 640 || p.Height != 480 || p.Duration < ended-0.5 || p.Duration > ended+1 || p.Seekable != p.Duration {
		t.Errorf("%+v", p)
	}
	red, blue := [3]int{255, 0, 0}, [3]int{0, 0, 255}
	for n, want := range map[int][3]int{0: red, 1: blue, 3: blue, 4: blue} {
		if !near(p.Colors[n], want) {
			t.Errorf("picture %d: %v, want %v", n, p.Colors[n], want)
		}
	}
	if mark := p.Colors[2]; mark[0] < 140 || mark[2] > 130 { // orange, mixed with what is beside it
		t.Errorf("the element's mark: %v", mark)
	}
}

// A video of another size, which ends with its tab.
func TestVideoEndsWithItsTab(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><body style="background: rgb(0, 128, 0)"><p>Shop`)
	agent := toolstest.OpenWindow(t).Agent("devtools")
	agent.Must("browser_tabs", args{"action": "new", "url": url})
	agent.Must("browser_start_video", args{"filename": "short", "size": args{"width": 320, "height": 240}, "fps": 10})
	agent.Must("browser_wait_for", args{"time": 1})
	agent.Must("browser_tabs", args{"action": "close"})
	limit := time.Now().Add(30 * time.Second)
	for ended := false; !ended; {
		_, err := agent.Call("browser_storyboard", args{})
		ended = err != nil && strings.Contains(err.Error(), "the video has ended: stop it with browser_stop_video")
		if !ended && time.Now().After(limit) {
			t.Fatalf("after the tab has closed: %v", err)
		}
	}
	agent.Refused("browser_start_video", args{}, "already")
	agent.Expect("browser_stop_video", args{}, "short.webm", "It ended early: its tab has closed.")
	p := play(t, agent, agent.Saved("short.webm"), [3]float64{0.2, 5, 5})
	if p.Width != 320 || p.Height != 240 || !near(p.Colors[0], [3]int{0, 128, 0}) {
		t.Errorf("%+v", p)
	}
	agent.Refused("browser_start_video", args{"size": args{"width": 1, "height": 1}}, "size")
	agent.Refused("browser_start_video", args{"fps": 0.5}, "fps: want 1 to 60")
}

// Actions that are faster than the frames have a thumbnail each.
func TestStoryboardOfQuickSteps(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><body style="margin: 0; background: rgb(255, 0, 0)">
		<button onclick="document.body.append(' more')">Add</button>`)
	agent := toolstest.OpenWindow(t).Agent("devtools")
	agent.Open(url)
	agent.Must("browser_emulate", args{"viewport": "640x480"})
	agent.Must("browser_start_video", args{"filename": "quick", "fps": 1})
	steps := make([]args, 10)
	for n := range steps {
		steps[n] = args{"action": "click", "target": `button "Add"`}
	}
	agent.Must("browser_steps", args{"steps": steps})
	agent.Must("browser_storyboard", args{"filename": "board.jpeg"})
	agent.Expect("browser_stop_video", args{}, "10 chapters")
	board := storyboard(t, agent, "board.jpeg")
	for n := range 11 {
		color := colorAt(board, 8+n%4*264+200, 8+n/4*222+22+100)
		if red := near(color, [3]int{255, 0, 0}); red != (n < 10) {
			t.Errorf("thumbnail %d: %v", n+1, color)
		}
	}
}

// A video has the actions of its tab, and no others.
func TestVideoOfOneTab(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><button>Order</button>`)
	agent := toolstest.OpenWindow(t).Agent("devtools")
	agent.Open(url)
	agent.Must("browser_start_video", args{"filename": "one"})
	order := args{"target": `button "Order"`}
	agent.Must("browser_click", order)
	agent.Must("browser_tabs", args{"action": "new", "url": url + "/other"})
	agent.Must("browser_click", order)
	agent.SelectTab(func(line string) bool { return !strings.Contains(line, "/other") })
	agent.Must("browser_click", order)
	agent.Expect("browser_stop_video", args{}, "2 chapters")
}

// A storyboard shows nothing of a tab that the agent may not read.
func TestStoryboardStaysWithinBounds(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><button>Order</button>`)
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	user.Browse(url)
	agent := w.Agent("devtools")
	agent.Must("browser_start_video", args{"filename": "bounds"})
	agent.Must("browser_click", args{"target": `button "Order"`})
	agent.Must("browser_storyboard", args{"filename": "within.jpeg"})
	user.Browse("file://" + filesOutside(t, w.Folder))
	agent.Refused("browser_storyboard", args{}, "out of bounds")
	agent.Must("browser_stop_video", args{})
}

// Of two videos that begin at the same time one goes on, with the elements of its actions.
func TestTwoVideosAtOnce(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><button>Order</button>`)
	agent := toolstest.OpenWindow(t).Agent("devtools")
	agent.Open(url)
	var started sync.WaitGroup
	var errs [2]error
	for n := range errs {
		started.Go(func() { _, errs[n] = agent.Call("browser_start_video", args{"filename": fmt.Sprint("video-", n)}) })
	}
	started.Wait()
	first := 0
	if errs[0] != nil {
		first = 1
	}
	if errs[first] != nil || errs[1-first] == nil || !strings.Contains(errs[1-first].Error(), "already") {
		t.Fatal(errs)
	}
	agent.Must("browser_click", args{"target": `button "Order"`})
	name := fmt.Sprintf("video-%d.webm", first)
	agent.Expect("browser_stop_video", args{}, name, "1 chapters")
	data, err := os.ReadFile(agent.Saved(name))
	if title := `click button "Order"`; err != nil || !bytes.Contains(data, []byte(title)) {
		t.Errorf("no chapter %q: %v", title, err)
	}
}

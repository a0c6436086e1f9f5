package tools_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// played is what a browser shows of a video.
type played struct {
	Duration, Width, Height float64
	Seekable                float64
	Frames                  []shown
}

// shown is what a video shows at a time (s): the colours at the wanted points.
type shown struct {
	At     float64
	Colors [][3]int
}

// play plays a video in the agent's browser: the colours at these points, each 0.4 s.
func play(t *testing.T, agent *toolstest.Agent, file string, points ...[2]int) (p played) {
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
	list, _ := json.Marshal(points)
	text := agent.Evaluate(`async () => {
		const video = document.querySelector("video");
		if (video.readyState < 2) await new Promise((done, fail) => {
			video.onloadeddata = done;
			video.onerror = () => fail(new Error(video.error.message));
		});
		const played = { duration: video.duration, width: video.videoWidth, height: video.videoHeight,
			seekable: video.seekable.end(0), frames: [] };
		const canvas = new OffscreenCanvas(played.width, played.height).getContext("2d", { willReadFrequently: true });
		for (let at = 0.1; at < played.duration; at += 0.4) {
			await new Promise((done) => { video.onseeked = done; video.currentTime = at; });
			canvas.drawImage(video, 0, 0);
			const colors = ` + string(list) + `.map(([x, y]) => [...canvas.getImageData(x, y, 1, 1).data.slice(0, 3)]);
			played.frames.push({ at, colors });
		}
		return played;
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

// recorded waits until the encoder has written what it gets from now on. It writes a second's
// frames at a time, and the first of two writes may be of before.
func recorded(t *testing.T, file string) {
	t.Helper()
	var sizes []int64
	must.Await(t, "the video to grow twice", func() bool {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(sizes, info.Size()) {
			sizes = append(sizes, info.Size())
		}
		return len(sizes) == 3
	})
}

// chapter is a chapter of a video: an action, in seconds.
type chapter struct {
	From, To float64
	Title    string
}

// chapters reads the chapters of a video: the start of each (ChapterTimeStart, 0x91) is before its
// title (ChapString, 0x85, in ChapterDisplay, 0x80). Each size takes eight bytes.
func chapters(data []byte, end float64) (list []chapter) {
	for n, part := range bytes.Split(data, []byte("\x91\x01\x00\x00\x00\x00\x00\x00\x08")) {
		if n == 0 || len(part) < 26 || part[8] != 0x80 || part[17] != 0x85 {
			continue
		}
		from := float64(binary.BigEndian.Uint64(part)) / 1e9
		size := int(binary.BigEndian.Uint32(part[22:]))
		if n := len(list); n > 0 {
			list[n-1].To = from
		}
		list = append(list, chapter{from, end, string(part[26:min(26+size, len(part))])})
	}
	return list
}

// A video shows what happened when, with the element of the action and the pointer where it
// clicked, in a file that players know the length of.
func TestVideo(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title>
		<style>
			body { margin: 0; height: 100vh; background: rgb(255, 0, 0) }
			button { position: absolute; top: 100px; width: 120px; height: 100px; background: white; border: 0 }
		</style>
		<button style="left: 40px">Order</button><button style="left: 240px">Cancel</button>
		<button style="left: 440px">Pay</button>
		<script>
			const clicks = [];
			const colors = { Order: "rgb(0, 0, 255)", Pay: "rgb(0, 128, 0)" };
			onclick = ({ target, clientX, clientY }) => {
				clicks.push([clientX, clientY]);
				document.body.style.background = colors[target.textContent];
			};
		</script>`)
	agent := toolstest.OpenWindow(t).Agent("devtools")
	agent.Open(url)
	agent.Must("browser_emulate", args{"viewport": "640x480"})
	began := time.Now()
	agent.Expect("browser_start_video", args{"filename": "order"}, "has begun")
	agent.Refused("browser_start_video", args{}, "already")
	file := agent.Saved("order.webm")
	recorded(t, file)
	agent.Must("browser_steps", args{"steps": []args{{"action": "click", "target": `button "Order"`}}})
	agent.Expect("browser_storyboard", args{"filename": "board.jpeg"}, "board.jpeg")
	recorded(t, file)
	agent.Must("browser_click", args{"target": `button "Pay"`})
	agent.Must("browser_wait_for", args{"time": 2}) // as long as an action is drawn
	recorded(t, file)
	agent.Expect("browser_stop_video", args{}, "order.webm", "2 chapters")
	elapsed := time.Since(began).Seconds()
	agent.Refused("browser_stop_video", args{}, "no video")
	agent.Refused("browser_storyboard", args{}, "browser_start_video")

	sheet := storyboard(t, agent, "board.jpeg")
	// The click, with the button marked, while the page was red.
	if size := sheet.Bounds().Size(); size.X != 272 || size.Y != 230 {
		t.Errorf("storyboard: %v", size)
	}
	if color := colorAt(sheet, 200, 40); !near(color, [3]int{255, 0, 0}) {
		t.Errorf("the page in the storyboard: %v", color)
	}
	if mark := colorAt(sheet, 8+39*256/640, 30+150*256/640); mark[0] < 180 || mark[1] < 40 || mark[2] > 130 {
		t.Errorf("the element's mark in the storyboard: %v", mark)
	}

	const (
		page        = iota
		cancel      // the button that is not clicked
		inPointer   // of the first click, and of the second
		leftOfClick = inPointer + 2
		inMark      = leftOfClick + 2
	)
	var clicks [][2]int // where the page got them
	if err := json.Unmarshal([]byte(agent.Evaluate("() => clicks")), &clicks); err != nil || len(clicks) != 2 {
		t.Fatalf("clicks: %v, %v", clicks, err)
	}
	points := [][2]int{
		page:   {600, 50},
		cancel: {303, 159}, // where a pointer would be in the middle of the button
		// The tip of the pointer is where the click was.
		inPointer:       {clicks[0][0] + 3, clicks[0][1] + 9},
		inPointer + 1:   {clicks[1][0] + 3, clicks[1][1] + 9},
		leftOfClick:     {clicks[0][0] - 6, clicks[0][1] + 9},
		leftOfClick + 1: {clicks[1][0] - 6, clicks[1][1] + 9},
		inMark:          {38, 180},
		inMark + 1:      {438, 180},
	}
	p := play(t, agent, file, points...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	actions := chapters(data, p.Duration)
	t.Logf("%.1f of %.1f s, %v, clicks at %v", p.Duration, elapsed, actions, clicks)
	if p.Width != 640 || p.Height != 480 || p.Duration > elapsed || p.Seekable != p.Duration {
		t.Errorf("%v x %v, seekable to %v", p.Width, p.Height, p.Seekable)
	}
	if len(actions) != 2 || actions[0].Title != `click button "Order"` || actions[1].Title != `click button "Pay"` {
		t.Fatal("other chapters")
	}
	red, blue, green := [3]int{255, 0, 0}, [3]int{0, 0, 255}, [3]int{0, 128, 0}
	white, orange := [3]int{255, 255, 255}, [3]int{232, 89, 12}
	pointer := func(s shown, button int) bool { return near(s.Colors[inPointer+button], orange) }
	mark := func(s shown, button int) bool {
		color := s.Colors[inMark+button] // mixed with what is beside it
		return color[0] > 140 && color[1] > 40 && color[2] < 130
	}
	if first := p.Frames[0]; !near(first.Colors[page], red) || mark(first, 0) || pointer(first, 0) {
		t.Errorf("before the first click: %v", first)
	}
	for _, s := range p.Frames {
		if pointer(s, 0) && pointer(s, 1) || !near(s.Colors[cancel], white) ||
			!near(s.Colors[leftOfClick], white) || !near(s.Colors[leftOfClick+1], white) {
			t.Errorf("a pointer where no click is: %v", s)
		}
	}
	for n, color := range [][3]int{blue, green} {
		var drawn, changed bool
		for _, s := range p.Frames {
			if s.At > actions[n].From && s.At < actions[n].To {
				drawn = drawn || pointer(s, n) && mark(s, n) && !pointer(s, 1-n) && !mark(s, 1-n)
				changed = changed || near(s.Colors[page], color)
			}
		}
		if !drawn || !changed {
			t.Errorf("%v: pointer and mark: %t, the page after it: %t, in %v", actions[n], drawn, changed, p.Frames)
		}
	}
	// What is drawn of an action ends, and not only with the video.
	if !slices.ContainsFunc(p.Frames, func(s shown) bool {
		return s.At > actions[1].From+1 && s.At < p.Duration-0.5 && near(s.Colors[page], green) &&
			!pointer(s, 1) && !mark(s, 1)
	}) {
		t.Errorf("the last action is still drawn: %v", p.Frames)
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
	agent.Must("browser_tabs", args{"action": "select", "index": 0})
	p := play(t, agent, agent.Saved("short.webm"), [2]int{5, 5})
	if p.Width != 320 || p.Height != 240 || !near(p.Frames[0].Colors[0], [3]int{0, 128, 0}) {
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

// A video shows nothing of what the agent may not read: the last picture before it stays.
func TestVideoStaysWithinBounds(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><body style="background: #00f"><button>Order</button>`)
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	user.Browse(url)
	agent := w.Agent("devtools")
	agent.Must("browser_start_video", args{"filename": "bounds"})
	outside := filepath.Join(t.TempDir(), "outside.html")
	must.Do(t, os.WriteFile(outside, []byte(`<title>Outside</title><body style="background: #f00">precious`), 0o600))
	for range 3 {
		user.Browse("file://" + outside)
		recorded(t, agent.Saved("bounds.webm"))
		user.Browse(url)
		recorded(t, agent.Saved("bounds.webm"))
	}
	agent.Must("browser_stop_video", args{})
	frames := play(t, agent, agent.Saved("bounds.webm"), [2]int{300, 300}).Frames
	if len(frames) < 5 {
		t.Fatalf("the video has %d pictures", len(frames))
	}
	for _, frame := range frames {
		if !near(frame.Colors[0], [3]int{0, 0, 255}) {
			t.Errorf("at %.1f s it shows %v", frame.At, frame.Colors[0])
		}
	}
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

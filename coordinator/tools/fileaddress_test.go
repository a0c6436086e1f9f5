package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// filesOutside lays out a workspace whose pages link to files outside of it, and returns
// the path of a page outside.
func filesOutside(t *testing.T, shop string) (outside string) {
	t.Helper()
	outside = filepath.Join(t.TempDir(), "outside.html")
	address := "file://" + outside
	writeFiles(t, map[string]string{
		outside:                           "<title>Outside</title>precious",
		filepath.Join(shop, "plain.html"): "<title>Plain</title>plain",
		filepath.Join(shop, "leads.html"): `<title>Leads</title><a id=link href="` + address +
			`">link</a> <a id=tab target=_blank href="` + address + `">tab</a> <a id=near href=plain.html>near</a>
<button id=go onclick="location.href = '` + address + `'">go</button>
<button id=framed onclick="document.querySelector('iframe').src = '` + address + `'">frame</button>` +
			`<iframe src="plain.html"></iframe>`,
		filepath.Join(shop, "holds.html"): `<title>Holds</title><iframe src="` + address + `"></iframe><object data="` +
			address + `"></object><script src="` + address + `"></script>`,
	})
	return outside
}

// opens calls both tools that open an address.
func opens(address string) []toolCall {
	return []toolCall{{"browser_navigate", args{"url": address}, nil},
		{"browser_tabs", args{"action": "new", "url": address}, nil}}
}

// An agent opens no file that it may not read. An address that the browser reads as a
// file's has the limits of a file, in every spelling. An address that makes the browser
// end, crash or hang is not opened.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	outside, agent := filesOutside(t, w.Folder), w.Agent()
	agent.Expect("browser_navigate", args{"url": "file://" + w.Folder + "/plain.html"}, "Plain")
	for _, address := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", "file://" + w.Folder + "/../outside.html", "file://" + w.Folder +
			"/%2e%2e/outside.html", "view-source:file:///etc/passwd", " file:///etc/passwd",
	} {
		for _, c := range opens(address) {
			agent.Refused(c.tool, c.args, "out of bounds")
		}
	}
	for _, address := range []string{
		"VIEW-SOURCE:file://" + outside, "view-source: file://" + outside, "view-source:fi\tle://" + outside,
		"view-source:view-source:file://" + outside,
		"fi\nle://" + outside, "\x01file://" + outside, "file:" + outside, "file:\\\\" + outside, "file://" + w.Folder +
			"/x\\..\\..\\" + filepath.Base(filepath.Dir(outside)) + "\\outside.html",
		"javascript:location = 'file://" + outside + "'",
	} {
		for _, c := range opens(address) {
			text, err := agent.Call(c.tool, c.args)
			previous, _ := agent.Call("browser_snapshot", nil)
			if strings.Contains(text+previous, "precious") || strings.Contains(text+previous, "Outside") {
				t.Errorf("%s %q: %s %v\n%s", c.tool, address, text, err, previous)
			}
		}
	}
	for _, name := range []string{"browser_navigate", "browser_fetch"} {
		agent.Refused(name, args{"url": "View-Source:\tFILE://" + outside}, "out of bounds")
	}
	agent.Open("data:text/html,<title>Here</title>here")
	for _, address := range []string{"chrome://crash", "CHROME:kill", " view-source:chrome://quit/", "about:hang",
		"chrome://inducebrowsercrashforrealz"} {
		for _, c := range opens(address) {
			agent.Refused(c.tool, c.args, "only its user opens it")
		}
	}
	agent.Expect("browser_snapshot", nil, "here")
	agent.Open("chrome://version")
}

// A page that hangs while an agent attaches to it has the limits of its address, during
// that time and later.
func TestHungFilePageStaysInBounds(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	outside := filesOutside(t, w.Folder)
	user.Browse("file://" + outside)
	hung := make(chan struct{})
	go func() {
		defer close(hung)
		user.Evaluate("(() => { const end = Date.now() + 5000; while (Date.now() < end); })()")
	}()
	agent := w.Agent()
	for range 2 {
		for _, name := range []string{"browser_snapshot", "browser_dom"} {
			agent.Refused(name, nil, "out of bounds")
		}
		<-hung
	}
}

// A page of the workspace leads an agent to no file outside of it, in its main frame or
// in a subframe. Its network log shows no such file.
func TestFilePagesStayInBounds(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	outside, agent := filesOutside(t, w.Folder), w.Agent()
	see := func(description string) string {
		t.Helper()
		text := agent.Must("browser_snapshot", nil)
		if strings.Contains(text, "precious") {
			t.Errorf("%s: %s", description, text)
		}
		return text
	}
	leads := "file://" + w.Folder + "/leads.html"
	for _, target := range []string{"#link", "#go"} {
		agent.Open(leads)
		agent.Expect("browser_click", args{"target": target}, "A navigation was refused: "+outside+" is out of bounds")
		if text := see(target); !strings.Contains(text, "Leads") {
			t.Errorf("after %s: %s", target, text)
		}
	}
	agent.Must("browser_click", args{"target": "#framed"})
	see("a frame")
	agent.Expect("browser_click", args{"target": "#near"}, "Plain")
	agent.Open("file://" + w.Folder + "/holds.html")
	see("frames of the document")
	for i := 1; i <= 4; i++ {
		if text, _ := agent.Call("browser_network_request", args{"index": i}); strings.Contains(text, "precious") {
			t.Errorf("request %d: %s", i, text)
		}
	}

	// A tab that the page opens is listed, but the agent cannot read it.
	agent.Open(leads)
	agent.Must("browser_click", args{"target": "#tab"})
	agent.SelectTab(func(line string) bool { return !strings.Contains(line, "(current)") })
	for _, name := range []string{"browser_snapshot", "browser_take_screenshot", "browser_dom"} {
		agent.Refused(name, nil, "out of bounds")
	}

	// An agent also sees nothing of a frame of another process that navigates to a file.
	server := toolstest.ServeHTML(t, "<title>Elsewhere</title>elsewhere")
	writeFiles(t, map[string]string{filepath.Join(w.Folder, "mixed.html"): `<title>Mixed</title><iframe src="` +
		server + `"></iframe>
<button onclick="document.querySelector('iframe').src = 'file://` + outside + `'">frame</button>`})
	agent.Open("file://" + w.Folder + "/mixed.html")
	agent.Expect("browser_snapshot", nil, "elsewhere")
	agent.Must("browser_click", args{"target": "button"})
	agent.Must("browser_wait_for", args{"time": 0.5})
	if text, err := agent.Call("browser_snapshot", nil); strings.Contains(text, "precious") {
		t.Errorf("the frame: %s %v", text, err)
	}

	// The agent may read files in a window's own folders, whatever the working directory is.
	elsewhere := toolstest.Start(t, options{Dir: toolstest.Folder(t, "elsewhere")})
	elsewhere.Must("browser_navigate", args{"window": w.Folder, "url": "file://" + w.Folder + "/plain.html"})
	elsewhere.Expect("browser_snapshot", args{"window": w.Folder}, "plain")
}

// A tab that a file's page opens may load a picture before the coordinator can block it.
// The agent then sees nothing of the tab until it is reloaded without the picture.
func TestPicturesOfTabsThatFilesOpen(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	outside := filepath.Join(t.TempDir(), "outside.svg")
	writeFiles(t, map[string]string{
		outside: `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"/>`,
		filepath.Join(w.Folder, "opens.html"): `<title>Opens</title>` +
			`<button onclick="window.open('shows.html')">open</button>`,
		filepath.Join(w.Folder, "shows.html"): `<title>Shows</title><p>shows<img id=i src="file://` + outside + `">`,
	})
	agent := w.Agent()
	agent.Open("file://" + w.Folder + "/opens.html")
	agent.Must("browser_click", args{"target": "button"})
	must.Await(t, "the tab's title", func() bool {
		return strings.Contains(agent.Must("browser_tabs", args{"action": "list"}), "Shows")
	})
	agent.SelectTab(func(line string) bool { return strings.Contains(line, "Shows") })
	for _, name := range []string{"browser_snapshot", "browser_take_screenshot"} {
		agent.Refused(name, nil, outside+" is out of bounds")
	}
	agent.Must("browser_navigate", args{"action": "reload"})
	agent.ExpectValue("() => document.title + i.naturalWidth", `"Shows0"`)
}

// The bytes of a page never become a program or the configuration of one, whatever name
// a misled agent gives them.
func TestPagesBytesAreNoCode(t *testing.T) {
	t.Parallel()
	taken := filepath.Join(t.TempDir(), "taken")
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/config":
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch "+taken+"; false\n")
		case "/run":
			w.Header().Set("Content-Disposition", `attachment; filename="../.git/hooks/run.sh"`)
			io.WriteString(w, "#!/bin/sh\ntouch "+taken)
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<title>Bait</title><a href=/run>run</a><script>fetch("/config").then((r) => r.text())</script>`)
		}
	})
	agent, _ := alone(t, "")
	git := func(command ...string) string {
		t.Helper()
		cmd := exec.Command("git", command...)
		cmd.Dir = agent.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", command, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	config, err := os.ReadFile(filepath.Join(agent.Dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	agent.Open(url)
	agent.Must("browser_wait_for", args{"networkIdle": true})
	index, _, _ := strings.Cut(agent.Must("browser_network_requests", args{"filter": "/config"}), ".")
	for _, name := range []string{".git/config", filepath.Join(agent.Dir, ".git", "config"), "../.git/config"} {
		agent.Refused("browser_network_request",
			args{"index": number(t, index), "part": "response-body", "filename": name})
		agent.Refused("browser_fetch", args{"url": "/config", "filename": name})
	}
	agent.Expect("browser_fetch", args{"url": "/config", "filename": "config.sh"}, agent.Saved("config.sh.txt"))
	text := agent.Must("browser_click", args{"target": "a"})
	if !strings.Contains(text, "Downloaded ") {
		text += agent.Must("browser_wait_for", args{"time": 1})
	}
	// the browser cleans the name too
	if !strings.Contains(text, "Downloaded "+agent.Saved("")) || !strings.Contains(text, "run.sh.bin") ||
		!strings.Contains(text, "run.sh; .bin is added") {
		t.Errorf("a download: %s", text)
	}
	if status := git("status", "--short"); status != "" {
		t.Errorf("git sees %s", status)
	}
	if now, err := os.ReadFile(filepath.Join(agent.Dir, ".git", "config")); err != nil ||
		string(now) != string(config) {
		t.Errorf(".git/config is %s %v", now, err)
	}
	if _, err := os.Stat(taken); err == nil {
		t.Error("the page's program ran")
	}
}

// downloads serves a page with links to files: two at once, one that waits until goOn is
// closed, and one that breaks off.
func downloads(t *testing.T, goOn <-chan struct{}) (url string) {
	t.Helper()
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		attach := func(name string, size int) {
			w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		switch r.URL.Path {
		case "/":
			io.WriteString(w, `<title>Files</title>
<a id=report href=/report>report</a> <a id=slow href=/slow>slow</a>
<a id=broken href=/broken>broken</a> <a id=tab target=_blank href=/report>tab</a>`)
		case "/report":
			attach("report.csv", 3)
			io.WriteString(w, "a,b")
		case "/latin1":
			attach("caf\xe9 men\xfa.csv", 3)
			io.WriteString(w, "a,b")
		case "/dots":
			attach("../../.bashrc", 4)
			io.WriteString(w, "dots")
		case "/slow":
			attach("slow.bin", 4004)
			io.WriteString(w, strings.Repeat("half", 1000)) // enough for the browser to recognise the type
			w.(http.Flusher).Flush()
			select {
			case <-goOn:
			case <-r.Context().Done():
			}
			io.WriteString(w, "rest")
		case "/broken":
			attach("broken.bin", 1000)
			io.WriteString(w, "too little")
		}
	})
}

// Downloads in an agent's own browser go to the agent's output folder. The tool's result
// names the file.
func TestDownloads(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	url := downloads(t, goOn)
	agent, _ := alone(t, "")
	agent.Open(url)
	for _, name := range []string{"report.csv", "report-2.csv"} { // no download overwrites another
		agent.Expect("browser_click", args{"target": "#report"},
			"Downloaded "+agent.Saved(name)+" (3 B) from "+url+"/report")
		if data, err := os.ReadFile(agent.Saved(name)); err != nil || string(data) != "a,b" {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	agent.Expect("browser_navigate", args{"url": url + "/dots"}, "(4 B)", agent.Saved("_.._.bashrc.bin"))
	// The browser cannot read a byte that is no UTF-8.
	agent.Expect("browser_navigate", args{"url": url + "/latin1"}, "Downloaded "+agent.Saved("café menú.csv")+" (3 B)")
	agent.Expect("browser_click", args{"target": "#broken"}, "The download of "+url+"/broken failed")
	agent.Expect("browser_click", args{"target": "#slow"},
		"A download began, and the tab stays where it is: "+url+"/slow", "when it has ended")
	close(goOn)
	text := agent.Must("browser_wait_for", args{"time": 1})
	if text += agent.Must("browser_snapshot", nil); strings.Count(text,
		"Downloaded "+agent.Saved("slow.bin")+" (4004 B)") != 1 {
		t.Errorf("after its end: %s", text)
	}

	// The output folder also receives downloads.
	out := t.TempDir()
	other, _ := alone(t, out)
	other.Open(url)
	text = other.Must("browser_click", args{"target": "#tab"})
	if !strings.Contains(text, "Downloaded ") {
		text += other.Must("browser_wait_for", args{"time": 1})
	}
	if !strings.Contains(text, "Downloaded "+filepath.Join(out, "report.csv")) {
		t.Errorf("a download by another tab: %s", text)
	}
}

// In a window's browser downloads belong to the user: the agent only gets a
// notification.
func TestDownloadInWindow(t *testing.T) {
	t.Parallel()
	url, w := downloads(t, nil), toolstest.OpenWindow(t)
	agent := w.Agent()
	agent.Open(url)
	if text := agent.Expect("browser_click", args{"target": "#report"},
		"A download began, and the tab stays where it is: "+url+"/report"); strings.Contains(text, "ended") {
		t.Errorf("a download: %s", text)
	}
	if found, err := filepath.Glob(filepath.Join(w.Folder, "*", "*")); err != nil || len(found) > 0 {
		t.Errorf("%q is in the workspace, %v", found, err)
	}
}

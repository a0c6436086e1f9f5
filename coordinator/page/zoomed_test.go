package page

import (
	"os"
	"path/filepath"
	"testing"

	"browser-coordinator/coordinator/chrome"
)

// A user has set every site to 125 %, or has a dense screen. An agent points, scrolls and
// takes screenshots as usual: sizes and positions are in CSS pixels.
func TestZoomed(t *testing.T) {
	profile := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", profile) // a browser with a permanent profile leaves crash reports there
	if err := os.Mkdir(filepath.Join(profile, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The level is the logarithm of 1.25 to the base 1.2; "x" is the default profile.
	preferences := []byte(`{"partition":{"default_zoom_level":{"x":1.2239010857415449}}}`)
	if err := os.WriteFile(filepath.Join(profile, "Default", "Preferences"), preferences, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, ratio string
		opts        chrome.Options
	}{
		{"site at 125 %", "1.25", chrome.Options{UserDataDir: profile}},
		{"screen of 1.5", "1.5", chrome.Options{Args: []string{"--force-device-scale-factor=1.5"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			useBrowser(t, test.opts)
			p, _ := open(t, "<p>p")
			if got := eval(t, p, "devicePixelRatio"); got != test.ratio {
				t.Fatalf("a CSS pixel has %s pixels of the screen", got)
			}
			t.Run("screenshots", TestScreenshots)
			t.Run("parts", TestScreenshotParts)
			t.Run("clips", TestClipOutside)
			t.Run("long page", TestPictureOfALongPage)
			t.Run("below the fold", TestPictureBelowTheFold)
			t.Run("frames", TestPicturesInTransformedFrames)
			t.Run("pick", TestPick)
		})
	}
}

// A site that the user has zoomed, in a new background tab: it applies the zoom only when
// it is drawn, and the first click must not come before.
func TestSiteZoomedByTheUser(t *testing.T) {
	useBrowser(t, chrome.Options{})
	html := "<body style=margin:0><script>clicks = []; onclick = e => clicks.push(e.clientX, e.clientY)</script>"
	users, _ := open(t, html)
	if err := users.session.Call(t.Context(), "Page.bringToFront", nil, nil); err != nil {
		t.Fatal(err)
	}
	larger := "new Promise(r => { const look = () => devicePixelRatio > 1 ? r(true) : setTimeout(look, 10); look() })"
	if _, err := users.Act(t.Context(), users.Input().PressKey("Control++")); err != nil {
		t.Fatal(err)
	}
	eval(t, users, larger)
	for range 10 {
		p, _ := open(t, html)
		if _, err := p.Act(t.Context(), p.Input().MouseClick(150, 20, "", 1, 0)); err != nil {
			t.Fatal(err)
		}
		if got := eval(t, p, "clicks.join()"); got != `"150,20"` {
			t.Fatalf("clicked at %s", got)
		}
		if got := eval(t, p, "devicePixelRatio > 1"); got != "true" {
			t.Fatal("the new tab is not zoomed")
		}
	}
}

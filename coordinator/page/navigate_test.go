package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/input"
)

// Apps with fragment routing: the result is for the requested URL, although the browser
// reports it only after its response.
func TestNavigateWithin(t *testing.T) {
	p, url := open(t, `<!doctype html><title>start</title><h1 id=h></h1>
<script>onhashchange = () => { document.title = 'view ' + location.hash; h.textContent = location.hash }</script>`)
	for i := range 5 {
		want := fmt.Sprintf("#/view/%d", i)
		c, err := p.Navigate(t.Context(), url+"/"+want)
		if err != nil || c.URL != url+"/"+want || c.Title != "view "+want || !c.Navigated || c.Loading {
			t.Errorf("%s: %+v %v", want, c, err)
		}
	}
	c, err := p.Back(t.Context())
	if want := "#/view/3"; err != nil || c.URL != url+"/"+want || c.Title != "view "+want {
		t.Errorf("back: %+v %v", c, err)
	}
	// To the current URL.
	c, err = p.Navigate(t.Context(), c.URL)
	if err != nil || c.Title != "view #/view/3" {
		t.Errorf("again: %+v %v", c, err)
	}
	// Within the document, whose script then leaves it.
	eval(t, p, "onhashchange = () => { location.href = '/?other' }, 1")
	if c, err = p.Navigate(t.Context(), url+"/#/away"); err != nil || c.URL != url+"/?other" || c.Title != "start" {
		t.Errorf("on to another document: %+v %v", c, err)
	}
}

// A navigation that is a download leaves the page unchanged.
func TestNavigateToDownload(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment; filename=report.csv")
			fmt.Fprint(w, "a,b")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>stays</title><a id=a href=/file>file</a><button id=b onclick=1>b</button>")
	}))
	for range 3 {
		c, err := p.Navigate(t.Context(), url+"/file")
		if err != nil || c.Download != url+"/file" || c.Loading || c.Navigated || c.URL != url+"/" || c.Title != "stays" {
			t.Errorf("a download: %+v %v", c, err)
		}
		if c, err = p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); err != nil || c.Loading || c.Download != "" {
			t.Errorf("afterwards: %+v %v", c, err)
		}
	}
}

// A part of a page may never finish loading: the result is what has loaded.
func TestNavigateToWhatNeverEnds(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/image":
			fmt.Fprint(w, "<!doctype html><title>IH</title><h1>main here</h1><img src=/hang>")
		case "/tail":
			fmt.Fprint(w, "<!doctype html><title>Tail</title><h1>main here</h1>")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	began := time.Now()
	c, err := p.Navigate(t.Context(), url+"/image")
	if took := time.Since(began); err != nil || c.Title != "IH" || !c.Loading || took > renderPatience+3*time.Second {
		t.Errorf("an image that never ends: %+v %v, after %v", c, err, took)
	}
	contains(t, outline(t, p), "main here")
	p.browser.opts.NavigateTimeout = time.Second
	if c, err = p.Navigate(t.Context(), url+"/tail"); err != nil || c.Title != "Tail" || !c.Loading {
		t.Errorf("a document that never ends: %+v %v", c, err)
	}
}

// A page with a beforeunload dialog stays, and the result has its title.
func TestNavigateAtDialog(t *testing.T) {
	p, url := open(t, "<title>unsaved</title><input id=i><script>onbeforeunload = (e) => e.preventDefault()</script>")
	if _, err := p.Act(t.Context(), p.Input().Type("#i", "x", input.TypeOptions{})); err != nil {
		t.Fatal(err)
	}
	c, err := p.Navigate(t.Context(), url+"/other")
	if err != nil || c.Dialog == nil || c.Title != "unsaved" || c.URL != url+"/" {
		t.Errorf("%+v %v", c, err)
	}
	_, err = p.Act(t.Context(), p.Input().Click("#i", input.ClickOptions{}))
	if dialog := new(DialogError); !errors.As(err, &dialog) || !strings.Contains(err.Error(), "accept leaves it, dismiss stays") {
		t.Errorf("an act: %v", err)
	}
	// After the user stays, no navigation is pending.
	start := time.Now()
	c, err = p.HandleDialog(t.Context(), false, "")
	if err != nil || c.Loading || c.Navigated || time.Since(start) > time.Second {
		t.Errorf("staying: %+v %v, after %v", c, err, time.Since(start))
	}
	eval(t, p, "void setTimeout(() => location.href = '/script', 1)")
	if err := p.await(t.Context(), func() bool { return p.dialog != nil }); err != nil {
		t.Fatal(err)
	}
	if c, err = p.HandleDialog(t.Context(), false, ""); err != nil || c.Loading {
		t.Errorf("staying where a script wanted to leave: %+v %v", c, err)
	}
}

func TestAddressThatIsAScript(t *testing.T) {
	p, url := open(t, "<title>x</title>")
	if _, err := p.Navigate(t.Context(), "JavaScript:document.title='y'"); err == nil || !strings.Contains(err.Error(), "is a script") {
		t.Errorf("%v", err)
	}
	if p.URL() != url+"/" {
		t.Errorf("at %s", p.URL())
	}
}

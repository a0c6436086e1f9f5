package page_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/pagetest"
)

const printPage = `<!doctype html><title>Bill</title><button onclick="print(); count.value++">Print</button>
<button onclick="open('/popup', '_blank', 'width=300,height=300')">Popup</button><input id=count value=0>`

// A print preview is a dialog of its page: it is not listed, and reading, saving and reloading end it.
func TestPrintPreview(t *testing.T) {
	pagetest.UseWindow(t, desktoptest.Start(t).Display())
	b := pagetest.ConnectWith(t, &page.Options{Record: true})
	p, _ := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/popup" {
			fmt.Fprint(w, "<!doctype html><title>Receipt</title><p>Receipt</p><script>onload = () => print()</script>")
			return
		}
		fmt.Fprint(w, printPage)
	}))
	if err := b.Activate(t.Context(), p.ID()); err != nil {
		t.Fatal(err)
	}
	preview := func() {
		t.Helper()
		c := pagetest.Act(t, p, p.Input().Click("text=Print", input.ClickOptions{}))
		if c.Dialog == nil || c.Dialog.Type != "print" {
			t.Fatalf("%+v", c)
		}
		pages, err := b.Pages(t.Context())
		for _, listed := range pages {
			if err != nil || strings.HasPrefix(listed.URL, "chrome:") {
				t.Errorf("%+v %v", pages, err)
			}
		}
		pagetest.Fails[*page.DialogError](t, p, p.Input().Click("#count", input.ClickOptions{}), "browser_pdf_save")
	}
	preview()
	if data, err := p.PDF(t.Context()); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("%.20s %v", data, err)
	}
	pagetest.Expect(t, p, "count.value", `"1"`)
	preview()
	if _, err := p.HandleDialog(t.Context(), true, ""); err == nil || !strings.Contains(err.Error(), "cannot print") {
		t.Error(err)
	}
	if c, err := p.HandleDialog(t.Context(), false, ""); err != nil || c.Dialog != nil {
		t.Errorf("%+v %v", c, err)
	}
	pagetest.Act(t, p, p.Input().Click("#count", input.ClickOptions{}))
	preview()
	if c, err := p.Reload(t.Context()); err != nil || c.Dialog != nil {
		t.Errorf("%+v %v", c, err)
	}
	pagetest.Expect(t, p, "count.value", `"0"`)

	// The preview of a popup, which prints before anybody uses it, holds up its opener too.
	if c, err := p.Act(t.Context(), p.Input().Click("text=Popup", input.ClickOptions{})); err != nil &&
		!strings.Contains(err.Error(), "a print preview is open in the browser") {
		t.Errorf("%+v %v", c, err)
	}
	pages, err := b.Pages(t.Context())
	index := slices.IndexFunc(pages, func(p page.Info) bool { return strings.HasSuffix(p.URL, "/popup") })
	if err != nil || index < 0 || len(pages) != 3 { // the browser's first one is blank
		t.Fatalf("%+v %v", pages, err)
	}
	if err := b.ClosePage(t.Context(), pages[index].ID); err != nil {
		t.Error(err)
	}
	pagetest.Act(t, p, p.Input().Click("#count", input.ClickOptions{}))
}

// Without a window there is no preview.
func TestPrintWithoutWindow(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, printPage)
	if c := pagetest.Act(t, p, p.Input().Click("text=Print", input.ClickOptions{})); c.Dialog != nil {
		t.Errorf("%+v", c)
	}
	if data, err := p.PDF(t.Context()); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("%.20s %v", data, err)
	}
}

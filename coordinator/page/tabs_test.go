package page

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"browser-coordinator/coordinator/page/input"
)

// Tabs keep their order: the order in which they opened, whichever is in front, for every
// connection.
func TestPagesKeepTheirOrder(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%s</title><button onclick="window.open('/popup%s')">open</button>`, r.URL.Path, r.URL.Path)
	}))
	b := p.browser
	want := []string{p.ID()}
	order := func(b *Browser) []string {
		t.Helper()
		pages, err := b.Pages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, info := range pages {
			if slices.Contains(want, info.ID) {
				ids = append(ids, info.ID)
			}
		}
		return ids
	}
	for range 4 {
		want = append(want, newPage(t, b).ID())
	}
	for i, id := range want[1:] {
		q, err := b.Page(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Navigate(t.Context(), fmt.Sprintf("%s/%d", url, i)); err != nil {
			t.Fatal(err)
		}
		if err := b.Activate(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if got := order(b); !slices.Equal(got, want) {
			t.Errorf("with %d in front: %v, want %v", i, got, want)
		}
	}
	second, err := b.Page(t.Context(), want[1])
	if err != nil {
		t.Fatal(err)
	}
	c, err := second.Act(t.Context(), second.Input().Click("button", input.ClickOptions{}))
	if err != nil || len(c.NewPages) != 1 {
		t.Fatalf("%+v %v", c, err)
	}
	popup := c.NewPages[0].ID
	defer func() { _ = b.ClosePage(t.Context(), popup) }()
	want = append(want, popup)
	if got := order(b); !slices.Equal(got, want) {
		t.Errorf("with a popup: %v, want %v", got, want)
	}
	// A later connection gets a stable order.
	late := connect(t)
	first := order(late)
	t.Log("the later connection finds", first, "of", want)
	if err := b.Activate(t.Context(), want[0]); err != nil {
		t.Fatal(err)
	}
	if got := order(late); !slices.Equal(got, first) {
		t.Errorf("to a later connection: %v, want %v", got, first)
	}
}

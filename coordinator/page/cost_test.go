package page

import (
	"slices"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

// What an act costs on top of the raw commands that nobody can do without, at the
// median: finding the target, the checks, and settling, all by events. Rounds of
// both are interleaved; a busy machine gets several tries.
func TestOwnCost(t *testing.T) {
	const most, rounds, tries = 5 * time.Millisecond, 15, 6
	p, _ := open(t, `<!doctype html><style>button,input,select{display:block}</style><button id=b>Button</button><input id=i><select id=s><option>a<option>b</select><ul id=l></ul>
<script>for (let n=0;n<400;n++) l.insertAdjacentHTML('beforeend','<li><a href=#>Item</a> <button>Add</button></li>')</script>`)
	text := snapshot(t, p)
	button, field := ref(t, text, `"Button"`), ref(t, text, "textbox")
	ctx := t.Context()
	s, err := p.ready(ctx, "#b", "hover", p.patience(0))
	if err != nil {
		t.Fatal(err)
	}
	// As every client does it: one after the other.
	mouse := func(events ...input.DispatchMouseEventParams) error {
		for _, e := range events {
			if err := p.mouse(ctx, s.x, s.y, 0, []input.DispatchMouseEventParams{e}); err != nil {
				return err
			}
		}
		return nil
	}
	script := func(expression string) error {
		_, err := protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{Expression: expression})
		return err
	}
	for _, act := range []struct {
		name    string
		raw, do func() error
	}{
		{"click",
			func() error { return mouse(clicks(input.MouseButtonLeft, 1, 1)...) },
			func() error { _, err := p.Click(ctx, button, ClickOptions{}); return err }},
		{"hover",
			func() error { return mouse(clicks(input.MouseButtonLeft, 1, 0)...) },
			func() error { _, err := p.Hover(ctx, button); return err }},
		{"type",
			func() error {
				if err := script("i.focus(), i.select()"); err != nil {
					return err
				}
				return p.insert(ctx, "some text")
			},
			func() error { _, err := p.Type(ctx, field, "some text", TypeOptions{}); return err }},
		{"press a key",
			func() error { return p.press(ctx, "a") },
			func() error { _, err := p.PressKey(ctx, "a"); return err }},
		{"select",
			func() error { return script("s.value = 'b', s.dispatchEvent(new Event('change'))") },
			func() error { _, err := p.SelectOption(ctx, "#s", "b"); return err }},
		{"evaluate",
			func() error { return script("1") },
			func() error { _, err := p.Evaluate(ctx, "() => 1", ""); return err }},
	} {
		best := time.Hour
		for try := 0; try < tries && best > most; try++ {
			var raw, own []time.Duration
			for range rounds {
				for _, m := range []struct {
					do   func() error
					took *[]time.Duration
				}{{act.raw, &raw}, {act.do, &own}} {
					start := time.Now()
					if err := m.do(); err != nil {
						t.Fatalf("%s: %v", act.name, err)
					}
					*m.took = append(*m.took, time.Since(start))
				}
			}
			slices.Sort(raw)
			slices.Sort(own)
			best = min(best, own[rounds/2]-raw[rounds/2])
		}
		t.Logf("%-12s %6.2f ms", act.name, best.Seconds()*1000)
		if best > most {
			t.Errorf("%s costs %v on top of the raw commands, more than %v", act.name, best, most)
		}
	}
}

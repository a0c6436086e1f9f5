package page

import (
	"bytes"
	"image/png"
	"testing"

	"browser-coordinator/coordinator/page/input"
)

const shopHTML = `<!doctype html><title>Shop</title>
<nav><a href="/a">Home</a></nav>
<main><h1>Things to buy</h1>
<p>Read the <a href="/docs">documentation</a> first.</p>
<form onsubmit="event.preventDefault(); console.error('sent', name.value); document.title='Sent'; out.textContent='Hello ' + name.value">
<label>Name <input id=name placeholder="Your name" required></label>
<label><input type=checkbox id=news> News</label>
<select id=country aria-label=Country><option value=de>Germany<option value=fr>France</select>
<button id=send>Send</button> <button disabled>Later</button>
</form>
<ul><li>plain<li><a href="/x">One</a><li>Two <button>Buy</button></ul>
<table><tr><th>Who<th>Age<tr><td>Ann<td>30<tr><td>Bob<td><button>Edit</button></table>
<div id=click onclick="this.textContent='clicked'" style="cursor:pointer">div button</div>
<output id=out></output></main>`

func TestFirstMilestone(t *testing.T) {
	p, url := open(t, shopHTML)
	text := outline(t, p)
	c, err := p.Act(t.Context(), p.Input().Type(ref(t, text, "textbox"), "Ada", input.TypeOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = p.Act(t.Context(), p.Input().Click(ref(t, text, `button "Send"`), input.ClickOptions{})); err != nil {
		t.Fatal(err)
	}
	if len(c.Console) != 1 || c.Console[0].Text != "sent Ada" || c.Console[0].URL != url+"/" {
		t.Errorf("the click's console errors: %+v", c.Console)
	}
	if got := eval(t, p, "() => document.title"); got != `"Sent"` {
		t.Errorf("title %s", got)
	}
	img, err := p.Screenshot(t.Context(), ScreenshotOptions{MaxWidth: 300})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(img.Data))
	if err != nil || decoded.Bounds().Dx() != 300 || img.Width != 300 {
		t.Errorf("screenshot %d wide, says %d: %v", decoded.Bounds().Dx(), img.Width, err)
	}
	if again := outline(t, p); ref(t, again, `button "Send"`) != ref(t, text, `button "Send"`) {
		t.Errorf("the ref changed in the same document:\n%s", again)
	}
}

package cdptest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
)

// Size is that of a page for its scripts, and that of what the browser draws of it. A capture with
// a clip may leave both, or the latter alone, at the clip's size.
func (c *Client) Size(session string) string {
	c.t.Helper()
	inner := c.Evaluate(session, "[innerWidth, innerHeight, visualViewport.width, devicePixelRatio].join(' ')")
	var picture struct{ Data string }
	c.Call(session, "Page.captureScreenshot", "", &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil {
		c.t.Fatal(err)
	}
	drawn, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf("%s, drawn %d × %d", inner, drawn.Width, drawn.Height)
}

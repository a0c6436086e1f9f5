package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/export"
)

type snapshotIn struct {
	Target string `json:"target,omitempty" about:"ref or selector" is:"subject"`
	Depth  int    `json:"depth,omitempty"`
	Filter string `json:"filter,omitempty" about:"interactive: only what has a ref" oneof:"interactive"`
	Diff   bool   `json:"diff,omitempty" about:"only what changed since your last snapshot"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_snapshot", Title: "Snapshot", Description: "The page as an accessibility tree with refs to act on",
	Effect:  Reads,
	Shell:   []command{{Args: "[target]"}},
	Example: `{}`,
}, calls[snapshotIn]{Do: takeSnapshot})

type consoleIn struct {
	Level string `json:"level,omitempty" about:"at least error, warning, info (default) or debug" oneof:"error warning info debug"`
	All   bool   `json:"all,omitempty" about:"also before the last navigation"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_console_messages", Title: "Console messages",
	Description: "The page's console messages and uncaught errors",
	Effect:      Reads,
	Shell:       []command{{Name: "console"}},
	Notes: "The oldest is first. Messages are as in DevTools: `Uncaught …`, the stack of `console.trace`, the " +
		"rows of `console.table`, an object's own properties.",
	Data:    "`messages`: `level`, `text`, `place`, `count` (of equal messages in a row)",
	Example: `{"level": "warning"}`,
}, calls[consoleIn]{Do: console})

type screenshotIn struct {
	Target   string `json:"target,omitempty" about:"ref or selector" is:"subject"`
	FullPage bool   `json:"fullPage,omitempty"`
	Marks    bool   `json:"marks,omitempty" about:"draw the refs at their elements"`
	Clip     string `json:"clip,omitempty" about:"x,y,width,height in CSS pixels"`
	Type     string `json:"type,omitempty" about:"png (default), jpeg or webp"`
	Quality  int    `json:"quality,omitempty"`
	Scale    string `json:"scale,omitempty" about:"css (default) or device pixels" oneof:"css device"`
	Filename string `json:"filename,omitempty"`
	inPage
}

var _ = define(Tool{
	Name: "browser_take_screenshot", Title: "Screenshot",
	Description: "A picture of the viewport; to act use browser_snapshot",
	Effect:      Adjusts,
	ReadOnly:    "without `target` and `fullPage`, for which the page is scrolled or resized",
	Shell:       []command{{Name: "screenshot", Args: "[filename]"}},
	Returns:     "the image, or the file in full size, at most 16,384 pixels a side",
	Notes: "- `clip` is of the viewport or, with `fullPage`, of the full page. `quality` (80) is that of jpeg and " +
		"webp.\n" +
		"- A result states the part and the scale of each picture, for the coordinates of a click.\n" +
		"- A picture in a result has at most 1,568 pixels a side and 1 MB; one of more bytes becomes a JPEG. A " +
		"tall area comes as up to four pictures, with the `clip` for the rest.\n" +
		"- `marks` are drawn on the picture alone: the page and the user do not see them. Not with `webp`.",
	Example: `{}`,
}, calls[screenshotIn]{
	ReadOnlyIf: func(in screenshotIn) bool { return in.Target == "" && !in.FullPage },
	Aims:       func(in screenshotIn) []input.Aim { return optional(in.Target) },
	Question: func(_ screenshotIn, names []string) string {
		if len(names) == 0 {
			return ""
		}
		return "Take a picture of " + names[0]
	},
	Do:   screenshot,
	Code: func(screenshotIn, *agent.Record) export.Step { return export.Step{} }, // a test needs no pictures
})

// maxImage is the longest side, in pixels, of an image in an answer: models scale larger
// ones down themselves, after the agent has paid for them.
const maxImage = 1568

// maxPicture bounds the bytes of one.
const maxPicture = 1_000_000

func takeSnapshot(ctx context.Context, c *agent.Call, in snapshotIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Outline)
	if err != nil {
		return err
	}
	options := snapshot.Options{Target: in.Target, Depth: in.Depth, Interactive: in.Filter == "interactive",
		Diff: in.Diff}
	description := fmt.Sprintf("snapshot %+v", options)
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	seen, err := p.Reader().Snapshot(ctx, options)
	if err != nil {
		return err
	}
	c.Out.Quotef("Page: %s\nURL: %s", seen.Title, seen.URL)
	if d := p.Dialog(); d != nil {
		c.Out.Quotef("A JavaScript %s dialog is open: %q", d.Type, d.Message)
	}
	if tools := offered(p); tools != "" && !seen.Diff {
		c.Out.Quotef("Tools that the page offers (browser_page_tool calls them): %s", tools)
	}
	switch {
	case seen.Diff && seen.Text == "":
		c.Out.Addf("Nothing has changed since the last snapshot.")
		return nil
	case seen.Diff:
		c.Out.Addf("Since the last snapshot:")
	case seen.Whole != "" && seen.Text != "":
		c.Out.Addf("The whole snapshot, since %s:", seen.Whole)
	case seen.Text == "":
		c.Out.Addf("It shows nothing now.")
		return nil
	}
	if whole := options == (snapshot.Options{Diff: in.Diff}); whole && !seen.Diff && file == nil &&
		len(seen.Text) <= answer.MaxPart {
		p.Reader().Give(seen.Text)
	}
	return c.Out.Text(in.Paged, file, description, seen.Text)
}

func console(ctx context.Context, c *agent.Call, in consoleIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	description := fmt.Sprintf("console of %s %s %v", p.ID(), in.Level, in.All)
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	messages, refused := consoleOf(ctx, c, p, in.Level, in.All)
	c.Out.LeftOut(refused, "messages")
	list := make([]messageOut, len(messages))
	for i, m := range messages {
		list[i] = messageOut{Level: m.Level, Text: m.Text, Place: answer.MessagePlace(m)}
		if m.Count > 1 {
			list[i].Count = m.Count
		}
	}
	if len(messages) == 0 {
		answer.SetList(c.Out, "messages", list, "The console is empty at this level.")
		return nil
	}
	return c.Out.Data(in.Paged, file, description, consoleText(messages), "messages", list)
}

// messageOut is one message in the structured answer of browser_console_messages.
type messageOut struct {
	Level string `json:"level"`
	Text  string `json:"text"`
	Place string `json:"place,omitempty"` // file:line:column, or the address of the script
	Count int    `json:"count,omitempty"` // how often it came in a row, if more than once
}

// consoleOf is the console of a page, with its places, and how many messages were left
// out.
func consoleOf(ctx context.Context, c *agent.Call, p *page.Page, level string, all bool) ([]history.Message, int) {
	messages := p.History().Console.Messages(level)
	if !all {
		messages = slices.DeleteFunc(messages, func(m history.Message) bool { return !m.Current })
	}
	messages, refused := answer.Readable(c.Agent.Origins, messages)
	p.Sources().LocateMessages(ctx, messages)
	return messages, refused
}

// consoleText has a line for each message.
func consoleText(messages []history.Message) string {
	lines := make([]string, len(messages))
	for i, m := range messages {
		lines[i] = answer.MessageLine(m)
	}
	return strings.Join(lines, "\n")
}

type pdfIn struct {
	Filename string `json:"filename,omitempty"`
	inPage
}

var _ = define(Tool{
	Name: "browser_pdf_save", Title: "Save as PDF", Description: "Save the page as PDF",
	Set: "pdf", Effect: Adjusts, // the page gets events when it is printed
	Shell:   []command{{Name: "pdf", Args: "[filename]"}},
	Example: `{}`,
}, calls[pdfIn]{Do: savePDF})

func savePDF(ctx context.Context, c *agent.Call, in pdfIn) error {
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("page", output.PDF)), output.PDF)
	if err != nil {
		return err
	}
	data, err := p.PDF(ctx)
	if err != nil {
		return err
	}
	path, err := file.Save(data)
	return c.Done(err, "Saved %s (%d bytes).", path, len(data))
}

// pictures are the kinds of files by the formats of pictures.
var pictures = map[string]output.Kind{"png": output.PNG, "jpeg": output.JPEG, "webp": output.WebP}

func screenshot(ctx context.Context, c *agent.Call, in screenshotIn) error {
	format := in.Type
	if format == "" {
		format = strings.TrimPrefix(strings.ToLower(filepath.Ext(in.Filename)), ".")
	}
	switch format {
	case "":
		format = "png"
	case "jpg":
		format = "jpeg"
	}
	if err := oneOf("type", format, "png", "jpeg", "webp"); err != nil {
		return err
	}
	p, file, err := c.PageAndFile(ctx, in.Filename, pictures[format])
	if err != nil {
		return err
	}
	options := capture.Options{Target: in.Target, FullPage: in.FullPage, Format: format, Quality: in.Quality,
		Device: in.Scale == "device"}
	if in.Clip != "" {
		options.Clip = &capture.Clip{}
		clip := options.Clip
		if n, err := fmt.Sscanf(strings.ReplaceAll(in.Clip, " ", ""), "%g,%g,%g,%g", &clip.X, &clip.Y, &clip.Width,
			&clip.Height); n != 4 {
			return fmt.Errorf("clip %q: want x,y,width,height in CSS pixels: %w", in.Clip, err)
		}
	}
	if in.Marks && format == "webp" {
		return errors.New("marks are drawn on png and jpeg only: leave the type out")
	}
	if file == nil {
		options.MaxWidth, options.MaxHeight, options.Top = maxImage, maxImage, true
	}
	images, err := shots(ctx, p, options)
	if err != nil {
		return err
	}
	if in.Marks {
		if err := drawMarks(ctx, p, images, options); err != nil {
			return err
		}
	}
	if file == nil {
		for n := range images {
			if err := fit(c.Out, &images[n]); err != nil {
				return err
			}
		}
	}
	keepShot(c, images[0])
	describeShape(c.Out, images, in.FullPage)
	if file == nil {
		for _, image := range images {
			c.Out.Picture(image.Data, image.Format)
		}
		return nil
	}
	path, err := file.Save(images[0].Data)
	return c.Done(err, "Saved %s (%d × %d).", path, images[0].Width, images[0].Height)
}

// fit makes a picture fit for an answer, and reports what that has changed.
func fit(out *answer.Answer, image *capture.Image) error {
	change, err := image.Fit(maxPicture)
	if change != "" {
		out.Addf("The picture is %s. A filename keeps it as it is.", change)
	}
	return err
}

// mostShots is how many pictures show an area that is too tall for one.
const mostShots = 4

// shots are the pictures of an area, from its top.
func shots(ctx context.Context, p *page.Page, options capture.Options) (images []capture.Image, _ error) {
	for {
		image, err := p.Screen().Screenshot(ctx, options)
		if err == nil && options.Top && image.Format == "webp" && len(image.Data) > maxPicture { // fit cannot read it
			options.Format = "jpeg"
			image, err = p.Screen().Screenshot(ctx, options)
		}
		if err != nil {
			return nil, err
		}
		images = append(images, image)
		if !options.Top || !image.Truncated || len(images) == mostShots {
			return images, nil
		}
		options.Target, options.FullPage, options.Clip = "", true, remainder(image)
	}
}

// remainder is what a picture has left out at its end.
func remainder(i capture.Image) *capture.Clip {
	return &capture.Clip{X: i.Part.X, Y: i.Part.Y + i.Part.Height, Width: i.Area.Width,
		Height: i.Area.Height - i.Part.Height}
}

func drawMarks(ctx context.Context, p *page.Page, images []capture.Image, options capture.Options) error {
	places, err := p.Reader().Places(ctx)
	for i := range images {
		if err == nil {
			err = images[i].Mark(places, options.Quality)
		}
	}
	return err
}

// describeShape reports what of the page a picture has, and in which scale: coordinates
// are CSS pixels.
func describeShape(out *answer.Answer, images []capture.Image, isPage bool) {
	for n, i := range images {
		from := fmt.Sprintf("%.0f,%.0f of the viewport", i.Part.X-i.View.X, i.Part.Y-i.View.Y)
		if isPage {
			from = fmt.Sprintf("%.0f,%.0f of the page", i.Part.X, i.Part.Y)
		}
		which := ""
		if len(images) > 1 {
			which = fmt.Sprintf("Picture %d: ", n+1)
		}
		scale := "a pixel each"
		if s := i.Scale(); math.Abs(s-1) > 0.001 {
			scale = fmt.Sprintf("%.4g pixels each", s)
		}
		out.Addf("%s%.0f × %.0f CSS pixels from %s, %s.", which, i.Part.Width, i.Part.Height, from, scale)
	}
	last := images[len(images)-1]
	if isPage && (last.View.X != 0 || last.View.Y != 0) {
		out.Addf("The viewport is at %.0f,%.0f of the page.", last.View.X, last.View.Y)
	}
	if images[0].Cropped {
		out.Addf("What of the clip is outside was left out.")
	}
	switch rest := remainder(last); {
	case last.Truncated && rest.Height > 0:
		out.Addf("Left out below it: %.0f CSS pixels. Take them with fullPage and clip %.0f,%.0f,%.0f,%.0f.",
			rest.Height, rest.X, rest.Y, rest.Width, rest.Height)
	case last.Truncated:
		out.Addf("It is %.0f CSS pixels wide, more than a picture holds: the rest is cut off. Take it with fullPage "+
			"and clip.", last.Area.Width)
	case last.Scale() < 0.5:
		out.Addf("It is small: a clip or a filename gives more detail.")
	}
}

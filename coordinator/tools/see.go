package tools

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type snapshotIn struct {
	Target string `json:"target,omitempty" jsonschema:"ref or CSS selector"`
	Depth  int    `json:"depth,omitempty"`
	Filter string `json:"filter,omitempty" jsonschema:"interactive: only what has a ref" oneof:"interactive"`
	Diff   bool   `json:"diff,omitempty" jsonschema:"only what changed since the last one"`
	answer.Paged
	inWindow
}

type consoleIn struct {
	Level string `json:"level,omitempty" jsonschema:"error, warning, info (default) or debug, and above" oneof:"error warning info debug"`
	All   bool   `json:"all,omitempty" jsonschema:"also before the last navigation"`
	answer.Paged
	inWindow
}

type screenshotIn struct {
	Element  string `json:"element,omitempty"`
	Target   string `json:"target,omitempty" jsonschema:"ref or CSS selector"`
	FullPage bool   `json:"fullPage,omitempty"`
	Clip     string `json:"clip,omitempty" jsonschema:"x,y,width,height"`
	Type     string `json:"type,omitempty" jsonschema:"png (default), jpeg or webp"`
	Quality  int    `json:"quality,omitempty"`
	Scale    string `json:"scale,omitempty" jsonschema:"css (default) or device pixels" oneof:"css device"`
	Filename string `json:"filename,omitempty"`
	inWindow
}

// maxImage is the longest side, in pixels, of an image in an answer: models scale larger
// ones down themselves, after the agent has paid for them.
const maxImage = 1568

func (s *Server) addSeeTools() {
	add(s, saves("browser_snapshot", "Page snapshot", "The page as an accessibility tree with refs to act on"), takeSnapshot)
	add(s, withList("messages", saves("browser_console_messages", "Console messages", "The page's console messages and uncaught errors")), console)
	add(s, saves("browser_take_screenshot", "Screenshot", "A picture of the page; to act use the refs of browser_snapshot"), screenshot)
}

func takeSnapshot(ctx context.Context, c *agent.Call, in snapshotIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Outline)
	if err != nil {
		return err
	}
	options := snapshot.Options{Target: in.Target, Depth: in.Depth, Interactive: in.Filter == "interactive", Diff: in.Diff}
	what := fmt.Sprintf("snapshot %+v", options)
	if c.Out.Further(in.Paged, what) {
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
	switch {
	case seen.Diff && seen.Text == "":
		c.Out.Addf("Nothing has changed since the last snapshot.")
		return nil
	case seen.Diff:
		c.Out.Addf("Since the last snapshot:")
	case seen.Text == "":
		c.Out.Addf("It shows nothing now.")
		return nil
	}
	return c.Out.Text(in.Paged, file, what, seen.Text)
}

func console(ctx context.Context, c *agent.Call, in consoleIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("console of %s %s %v", p.ID(), in.Level, in.All)
	if c.Out.Further(in.Paged, what) {
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
	return c.Out.Data(in.Paged, file, what, consoleText(messages), "messages", list)
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
	messages := p.Console().Messages(level)
	if !all {
		messages = slices.DeleteFunc(messages, func(m history.Message) bool { return !m.Current })
	}
	messages, refused := answer.Within(c.Origins, messages)
	return p.Sources().Locate(ctx, messages), refused
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
	inWindow
}

func (s *Server) addPDFTools() {
	add(s, saves("browser_pdf_save", "Save as PDF", "Save the page as PDF"), savePDF)
}

func savePDF(ctx context.Context, c *agent.Call, in pdfIn) error {
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("page", output.PDF)), output.PDF)
	if err != nil {
		return err
	}
	data, err := p.Screen().PDF(ctx)
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
	options := capture.Options{Target: in.Target, FullPage: in.FullPage, Format: format, Quality: in.Quality, Device: in.Scale == "device"}
	if in.Clip != "" {
		options.Clip = &capture.Clip{}
		clip := options.Clip
		if n, err := fmt.Sscanf(strings.ReplaceAll(in.Clip, " ", ""), "%g,%g,%g,%g", &clip.X, &clip.Y, &clip.Width, &clip.Height); n != 4 {
			return fmt.Errorf("clip %q: want x,y,width,height in CSS pixels: %w", in.Clip, err)
		}
	}
	if file == nil {
		options.MaxWidth, options.MaxHeight = maxImage, maxImage
	}
	image, err := p.Screen().Screenshot(ctx, options)
	if err != nil {
		return err
	}
	keepShot(c, image)
	describeShape(c.Out, image)
	if file == nil {
		c.Out.Picture(image.Data, image.Format)
		return nil
	}
	path, err := file.Save(image.Data)
	return c.Done(err, "Saved %s (%d × %d).", path, image.Width, image.Height)
}

// describeShape reports how a picture differs from the requested one.
func describeShape(out *answer.Answer, image capture.Image) {
	if image.Cropped {
		out.Addf("What of the clip is outside was left out.")
	}
	smaller := image.Of.Width / float64(image.Width)
	switch {
	case image.Cut:
		out.Addf("It is %.0f × %.0f CSS pixels, more than a picture holds: the rest is cut off. Take it with fullPage and clip.", image.Of.Width, image.Of.Height)
	case smaller > 2:
		out.Addf("It is %.0f × %.0f CSS pixels, here %.1f times smaller: a clip or a filename gives more detail.", image.Of.Width, image.Of.Height, smaller)
	}
}

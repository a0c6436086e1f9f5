package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/snapshot"
)

// inWindow is embedded by every browser_* tool.
type inWindow struct {
	Window string `json:"window,omitempty"`
}

func (in inWindow) window() string { return in.Window }

type snapshotIn struct {
	Target string `json:"target,omitempty" jsonschema:"ref or CSS selector"`
	Depth  int    `json:"depth,omitempty"`
	Filter string `json:"filter,omitempty" jsonschema:"interactive: only what has a ref"`
	Diff   bool   `json:"diff,omitempty" jsonschema:"only what changed since the last one"`
	partIn
	inWindow
}

type consoleIn struct {
	Level string `json:"level,omitempty" jsonschema:"error, warning, info (default) or debug, and above"`
	All   bool   `json:"all,omitempty" jsonschema:"also before the last navigation"`
	partIn
	inWindow
}

type screenshotIn struct {
	Element  string `json:"element,omitempty"`
	Target   string `json:"target,omitempty" jsonschema:"ref or CSS selector"`
	FullPage bool   `json:"fullPage,omitempty"`
	Clip     string `json:"clip,omitempty" jsonschema:"x,y,width,height"`
	Type     string `json:"type,omitempty" jsonschema:"png (default), jpeg or webp"`
	Quality  int    `json:"quality,omitempty"`
	Scale    string `json:"scale,omitempty" jsonschema:"css (default) or device pixels"`
	Filename string `json:"filename,omitempty"`
	inWindow
}

// maxImage is the longest side, in pixels, of an image in an answer: models scale larger
// ones down themselves, after the agent has paid for them.
const maxImage = 1568

func (s *Server) addSeeTools() {
	add(s, &mcp.Tool{
		Name:        "browser_snapshot",
		Description: "The page as an accessibility tree with refs to act on",
		Annotations: saves("Page snapshot"),
	}, takeSnapshot)
	add(s, &mcp.Tool{
		Name:        "browser_console_messages",
		Description: "The page's console messages and uncaught errors",
		Annotations: saves("Console messages"), OutputSchema: listOf("messages"),
	}, console)
	add(s, &mcp.Tool{
		Name:        "browser_take_screenshot",
		Description: "A picture of the page; to act use the refs of browser_snapshot",
		Annotations: saves("Screenshot"),
	}, screenshot)
}

func takeSnapshot(ctx context.Context, a *agent, in snapshotIn) (*answer, error) {
	if err := oneOf("filter", in.Filter, "", "interactive"); err != nil {
		return nil, err
	}
	file, err := a.outputFile(ctx, in.Filename, output.Outline)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	options := snapshot.Options{Target: in.Target, Depth: in.Depth, Interactive: in.Filter == "interactive", Diff: in.Diff}
	what := fmt.Sprintf("snapshot %+v", options)
	if rest, ok := a.restOf(what, in.partIn); ok {
		out := a.begin()
		return out, a.part(out, in.partIn, nil, what, rest)
	}
	seen, err := p.Reader().Snapshot(ctx, options)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.quotef("Page: %s\nURL: %s", seen.Title, seen.URL)
	if d := p.Dialog(); d != nil {
		out.quotef("A JavaScript %s dialog is open: %q", d.Type, d.Message)
	}
	switch {
	case seen.Diff && seen.Text == "":
		out.addf("Nothing has changed since the last snapshot.")
		return out, nil
	case seen.Diff:
		out.addf("Since the last snapshot:")
	case seen.Text == "":
		out.addf("It shows nothing now.")
		return out, nil
	}
	return out, a.part(out, in.partIn, file, what, seen.Text)
}

func console(ctx context.Context, a *agent, in consoleIn) (*answer, error) {
	if err := oneOf("level", in.Level, "", "error", "warning", "info", "debug"); err != nil {
		return nil, err
	}
	file, err := a.outputFile(ctx, in.Filename, output.Text)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("console of %s %s %v", p.ID(), in.Level, in.All)
	out := a.begin()
	if rest, further := a.restOf(what, in.partIn); further {
		return out, a.part(out, in.partIn, nil, what, rest)
	}
	messages, refused := a.consoleOf(ctx, p, in.Level, in.All)
	out.leftOut(refused, "messages")
	list := make([]messageOut, len(messages))
	for i, m := range messages {
		list[i] = messageOut{Level: m.Level, Text: m.Text, Place: messagePlace(m)}
		if m.Count > 1 {
			list[i].Count = m.Count
		}
	}
	if len(messages) == 0 {
		out.addf("The console is empty at this level.")
		out.tell("messages", list)
		return out, nil
	}
	return out, a.data(out, in.partIn, file, what, consoleText(messages), "messages", list)
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
func (a *agent) consoleOf(ctx context.Context, p *page.Page, level string, all bool) ([]history.Message, int) {
	messages := p.Console().Messages(level)
	if !all {
		messages = slices.DeleteFunc(messages, func(m history.Message) bool { return !m.Current })
	}
	messages, refused := within(a.server.options.Origins, messages)
	return p.Locate(ctx, messages), refused
}

// consoleText has a line for each message.
func consoleText(messages []history.Message) string {
	lines := make([]string, len(messages))
	for i, m := range messages {
		lines[i] = consoleLine(m)
	}
	return strings.Join(lines, "\n")
}

// pictures are the kinds of files by the formats of pictures.
var pictures = map[string]output.Kind{"png": output.PNG, "jpeg": output.JPEG, "webp": output.WebP}

func screenshot(ctx context.Context, a *agent, in screenshotIn) (*answer, error) {
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
		return nil, err
	}
	file, err := a.outputFile(ctx, in.Filename, pictures[format])
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := oneOf("scale", in.Scale, "", "css", "device"); err != nil {
		return nil, err
	}
	options := page.ScreenshotOptions{Target: in.Target, FullPage: in.FullPage, Format: format, Quality: in.Quality, Device: in.Scale == "device"}
	if in.Clip != "" {
		options.Clip = &page.Clip{}
		c := options.Clip
		if n, err := fmt.Sscanf(strings.ReplaceAll(in.Clip, " ", ""), "%g,%g,%g,%g", &c.X, &c.Y, &c.Width, &c.Height); n != 4 {
			return nil, fmt.Errorf("clip %q: want x,y,width,height in CSS pixels: %w", in.Clip, err)
		}
	}
	if file == nil {
		options.MaxWidth, options.MaxHeight = maxImage, maxImage
	}
	image, err := p.Screenshot(ctx, options)
	if err != nil {
		return nil, err
	}
	a.keepShot(image)
	out := a.begin()
	out.shape(image)
	if file == nil {
		out.image, out.mime = image.Data, "image/"+image.Format
		return out, nil
	}
	path, err := file.Save(image.Data)
	if err != nil {
		return nil, err
	}
	out.addf("Saved %s (%d × %d).", path, image.Width, image.Height)
	return out, nil
}

// shape reports how a picture differs from the requested one.
func (a *answer) shape(image page.Image) {
	if image.Cropped {
		a.addf("What of the clip is outside was left out.")
	}
	smaller := image.Of.Width / float64(image.Width)
	switch {
	case image.Cut:
		a.addf("It is %.0f × %.0f CSS pixels, more than a picture holds: the rest is cut off. Take it with fullPage and clip.", image.Of.Width, image.Of.Height)
	case smaller > 2:
		a.addf("It is %.0f × %.0f CSS pixels, here %.1f times smaller: a clip or a filename gives more detail.", image.Of.Width, image.Of.Height, smaller)
	}
}

package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// FileChooser is a file chooser that the page has opened. The user does not see it;
// Upload without a target provides its files.
type FileChooser struct {
	Multiple bool // accepts several files

	frame   protocol.FrameID
	node    protocol.BackendNodeID
	session *cdp.Session // of the frame
}

// PickerRefused is what became of a picker of files that no input of the page opens.
const PickerRefused = "asks for a file or folder by showOpenFilePicker, showSaveFilePicker or showDirectoryPicker, " +
	"which the browser refuses to an agent (AbortError). A drop (browser_drop) or a file input may do the same; " +
	"else ask the user to do this in the browser"

// Choosers are the file choosers of one page.
type Choosers struct {
	frames *frame.Tree

	mu   sync.Mutex
	open *FileChooser // still without files; mu guards it
}

// Open returns the open file chooser; nil: there is none.
func (c *Choosers) Open() *FileChooser {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// Opened handles the browser's event, and reports whether a file chooser is open now.
func (c *Choosers) Opened(s *cdp.Session, e *cdppage.EventFileChooserOpened) bool {
	if e.BackendNodeID == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discard()
	c.open = &FileChooser{
		Multiple: e.Mode == cdppage.FileChooserOpenedModeSelectMultiple,
		frame:    e.FrameID, node: e.BackendNodeID, session: s,
	}
	// A handle keeps the input alive: it is often in no document, and the page's script holds it no longer.
	_, _ = s.Start(context.Background(), dom.CommandResolveNode, dom.ResolveNodeParams{
		BackendNodeID: e.BackendNodeID, ObjectGroup: chooserGroup,
	})
	return true
}

// chooserGroup has the handle of the open chooser's input.
const chooserGroup = "file chooser"

// Identify is the file input of the open chooser.
func (c *Choosers) Identify(ctx context.Context) (Element, error) {
	open := c.Open()
	if open == nil {
		return Element{}, errNoOpenChooser
	}
	e, err := c.frames.Resolve(ctx, open.frame, open.node, "the file chooser")
	if err != nil {
		return Element{}, err
	}
	defer e.Release(ctx)
	_, err = e.Identify(ctx, false, nil)
	return Element{Identity: e.Identity, Frame: e.Frame}, err
}

var errNoOpenChooser = errors.New("no file chooser is open: give what opens one, or the file input, as target")

// Discard forgets the open chooser: its document was replaced, or it has its files.
func (c *Choosers) Discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discard()
}

// discard is Discard. mu is held.
func (c *Choosers) discard() {
	if c.open != nil {
		_, _ = c.open.session.Start(context.Background(), runtime.CommandReleaseObjectGroup,
			runtime.ReleaseObjectGroupParams{ObjectGroup: chooserGroup})
	}
	c.open = nil
}

// Hold intercepts the file choosers that an action opens. The user would not expect them
// on the screen, and no agent could use them there. It is on only during actions: at other
// times the choosers belong to the user. It waits for no response.
func (c *Choosers) Hold(ctx context.Context, enabled bool) {
	for _, s := range c.frames.Sessions() {
		// A frame that has gone opens no chooser.
		_, _ = s.Start(context.WithoutCancel(ctx), cdppage.CommandSetInterceptFileChooserDialog,
			cdppage.SetInterceptFileChooserDialogParams{Enabled: enabled})
	}
}

// Upload puts files into a file input, which need not be visible, or into the one that a
// click on the target opens. Without a target, it uses the chooser that the last action
// has opened. Without files, it cancels that chooser. The caller must decide which files
// may be read.
func (i *Input) Upload(target string, files ...string) Action {
	operation := "uploading to " + target
	if target == "" {
		operation = "answering the file chooser"
	}
	return Action{Operation: operation, Waits: i.opts.ActionTimeout, Do: func(ctx context.Context, out *Outcome) error {
		return i.upload(ctx, target, files, out)
	}}
}

func (i *Input) upload(ctx context.Context, target string, files []string, out *Outcome) error {
	if target == "" {
		element, err := i.Choosers.Identify(ctx)
		if err == nil {
			_, err = out.note(element)
		}
		if err != nil {
			return err
		}
		return i.answerChooser(ctx, target, files)
	}
	e, err := i.opts.Frames.Find(ctx, target)
	if err != nil {
		return err
	}
	defer e.Release(ctx)
	var is struct {
		File, Multiple, Disabled bool
		Is                       frame.Identity
	}
	if err := e.Call(ctx, "fileInput", nil, &is); err != nil {
		return err
	}
	if !is.File {
		return i.clickForChooser(ctx, target, files, out)
	}
	e.Identity = is.Is
	if _, err := out.note(elementOf(e)); err != nil {
		return err
	}
	if is.Disabled {
		return &frame.TargetError{Target: target, Reason: "is disabled"}
	}
	if err := oneFile(target, is.Multiple, files); err != nil {
		return err
	}
	return i.setFiles(ctx, e, files)
}

func oneFile(target string, multiple bool, files []string) error {
	if len(files) > 1 && !multiple {
		return &frame.TargetError{Target: target, Reason: fmt.Sprintf("takes one file, not %d", len(files))}
	}
	return nil
}

// chooserTimeout bounds the wait for the chooser that a click opens.
const chooserTimeout = 2 * time.Second

func (i *Input) clickForChooser(ctx context.Context, target string, files []string, out *Outcome) error {
	wait := i.opts.ActionTimeout
	s, err := i.ready(ctx, target, toClick, wait, false)
	if err != nil {
		return err
	}
	defer func() { s.Release(ctx) }()
	if _, err := out.note(elementOf(s.Element)); err != nil {
		return err
	}
	i.show(ctx, s)
	i.Choosers.Discard()
	before := i.opts.Lifecycle.Seq()
	if err := i.clickSpot(ctx, s, input.MouseButtonLeft, 1, 1, 0, wait); err != nil {
		return err
	}
	opened := func() bool { return i.Choosers.Open() != nil }
	refused := func() bool { return i.opts.Lifecycle.After(before, lifecycle.PickerRefused) }
	err = i.opts.Lifecycle.AwaitFor(ctx, chooserTimeout, func() bool { return opened() || refused() })
	switch {
	case err != nil:
		return err
	case refused():
		return &frame.TargetError{Target: target, Reason: PickerRefused}
	case !opened():
		return &frame.TargetError{Target: target, Reason: "is no file input, and a click on it opens no file chooser"}
	}
	out.OpenedChooser = true
	return i.answerChooser(ctx, target, files)
}

// answerChooser gives the open chooser its files, once.
func (i *Input) answerChooser(ctx context.Context, target string, files []string) error {
	c := i.Choosers.Open()
	if c == nil {
		return errNoOpenChooser
	}
	if err := oneFile(target, c.Multiple, files); err != nil {
		return err
	}
	i.Choosers.Discard()
	if len(files) == 0 {
		return nil
	}
	e, err := i.opts.Frames.Resolve(ctx, c.frame, c.node, cmp.Or(target, "the file chooser"))
	if err != nil {
		return err
	}
	defer e.Release(ctx)
	return i.setFiles(ctx, e, files)
}

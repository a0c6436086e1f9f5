package page

import (
	"context"
	"fmt"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// FileChooser is a file chooser that the page has asked for. It is not shown:
// Upload without a target answers it.
type FileChooser struct {
	Multiple bool // takes several files

	session *cdp.Session
	node    protocol.BackendNodeID
}

// holdChoosers keeps file choosers that an act opens from the human's screen,
// where nobody would expect them and no agent could answer them. It is on during
// acts only: in between the choosers are the human's. Nothing is waited for.
func (p *Page) holdChoosers(ctx context.Context, on bool) {
	for _, s := range p.frames.Sessions() {
		// A frame that has gone opens nothing.
		_, _ = s.Start(context.WithoutCancel(ctx), cdppage.CommandSetInterceptFileChooserDialog, cdppage.SetInterceptFileChooserDialogParams{Enabled: on})
	}
}

func (p *Page) chooserOpened(s *cdp.Session, e *cdppage.EventFileChooserOpened) {
	if e.BackendNodeID != 0 {
		p.choosers++
		p.chooser = &FileChooser{Multiple: e.Mode == cdppage.FileChooserOpenedModeSelectMultiple, session: s, node: e.BackendNodeID}
	}
}

// Upload puts files into a file input, which need not be visible, or into the
// one that a click on the target opens; without a target into the one whose
// chooser the last act has opened. No files cancel that chooser. Which files may
// be read is the caller's to decide.
func (p *Page) Upload(ctx context.Context, target string, files ...string) (Change, error) {
	doing := "uploading to " + target
	if target == "" {
		doing = "answering the file chooser"
	}
	patience := p.patience(0)
	return p.operate(ctx, doing, patience+p.browser.opts.CallTimeout, func(ctx context.Context) error {
		if target == "" {
			return p.answerChooser(ctx, target, files)
		}
		e, err := p.frames.Find(ctx, target)
		if err != nil {
			return err
		}
		defer e.Release(ctx)
		var is struct{ File, Multiple, Disabled bool }
		if err := e.Call(ctx, "fileInput", nil, &is); err != nil {
			return err
		}
		if !is.File {
			return p.clickForChooser(ctx, target, patience, files)
		}
		if is.Disabled {
			return &frame.TargetError{Target: target, Reason: "is disabled"}
		}
		if err := oneFile(target, is.Multiple, files); err != nil {
			return err
		}
		return p.setFiles(ctx, e.Session, target, dom.SetFileInputFilesParams{Files: files, ObjectID: e.Handle})
	})
}

func oneFile(target string, multiple bool, files []string) error {
	if len(files) > 1 && !multiple {
		return &frame.TargetError{Target: target, Reason: fmt.Sprintf("takes one file, not %d", len(files))}
	}
	return nil
}

// chooserPatience bounds the wait for the chooser that a click opens.
const chooserPatience = 2 * time.Second

func (p *Page) clickForChooser(ctx context.Context, target string, patience time.Duration, files []string) error {
	s, err := p.ready(ctx, target, "click", patience)
	if err != nil {
		return err
	}
	defer s.Release(ctx)
	p.mu.Lock()
	p.chooser = nil
	p.mu.Unlock()
	if err := p.clickSpot(ctx, s, input.MouseButtonLeft, 1, 1, 0, patience); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, chooserPatience, errPatience)
	defer cancel()
	if err := p.await(bounded, func() bool { return p.chooser != nil }); err == errPatience {
		return &frame.TargetError{Target: target, Reason: "is no file input, and a click on it opens no file chooser"}
	} else if err != nil {
		return err
	}
	return p.answerChooser(ctx, target, files)
}

// answerChooser gives the open chooser its files, once.
func (p *Page) answerChooser(ctx context.Context, target string, files []string) error {
	p.mu.Lock()
	c := p.chooser
	p.mu.Unlock()
	if c == nil {
		return fmt.Errorf("no file chooser is open: click what opens one first, or give the file input as target")
	}
	if err := oneFile(target, c.Multiple, files); err != nil {
		return err
	}
	p.mu.Lock()
	p.chooser = nil
	p.mu.Unlock()
	if len(files) == 0 {
		return nil
	}
	return p.setFiles(ctx, c.session, target, dom.SetFileInputFilesParams{Files: files, BackendNodeID: c.node})
}

func (p *Page) setFiles(ctx context.Context, s *cdp.Session, target string, params dom.SetFileInputFilesParams) error {
	p.inputs.Add(1)
	_, err := protocol.Call(ctx, s, dom.SetFileInputFiles, params)
	if cdp.Refused(err) {
		return &frame.TargetError{Target: target, Reason: "takes no files: " + err.Error()}
	}
	return err
}

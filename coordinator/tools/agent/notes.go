package agent

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/vscodeipc"
)

// writer is a user who writes notes to agents.
type writer interface {
	HasNotes(to vscodeipc.ClientInfo) bool
	// TakeNote returns the oldest note, and removes it; nil: there is none.
	TakeNote(ctx context.Context, to vscodeipc.ClientInfo) (*vscodeipc.Note, error)
}

// mostPlaces bounds the places in one answer, each with its picture: an answer that has so many takes
// no further note.
const mostPlaces = 10

// takeTimeout is for a window to give a note, as for each command that waits for no user.
const takeTimeout = 5 * time.Second

var errSlowNotes = fmt.Errorf("the pages of the notes did not respond in %v", pick.DescribeTimeout)

// takeNotes adds what the user has written to the agent to out, which begins the next answer.
func (a *Agent) takeNotes(ctx context.Context, out *answer.Answer) {
	limited, cancel := context.WithTimeoutCause(ctx, pick.DescribeTimeout, errSlowNotes)
	defer cancel()
	describe := func(n *vscodeipc.AnnotatedNode) (pick.Picked, error) { return a.describeNode(limited, n) }
	var taken []vscodeipc.Note
	for places := 0; places < mostPlaces && ctx.Err() == nil; {
		note := a.nextNote(ctx)
		if note == nil {
			break
		}
		taken = append(taken, *note)
		places += max(1, len(note.Annotations))
		a.addNote(ctx, out, *note, describe)
	}
	if ctx.Err() != nil { // nobody reads this answer
		a.mu.Lock()
		defer a.mu.Unlock()
		a.unread = append(taken, a.unread...)
	}
}

// nextNote takes the oldest note; nil: there is none. A window forgets what it gives, so a cancelled call does
// not cancel that.
func (a *Agent) nextNote(ctx context.Context) *vscodeipc.Note {
	a.mu.Lock()
	if len(a.unread) > 0 {
		note := a.unread[0]
		a.unread = a.unread[1:]
		a.mu.Unlock()
		return &note
	}
	users := []writer{a.alone} // also of an agent that has joined a window since
	if a.presence.window != nil {
		users = append(users, a.presence.window)
	}
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	for _, user := range users {
		if !user.HasNotes(a.Info()) {
			continue
		}
		note, err := user.TakeNote(ctx, a.Info())
		if err != nil {
			a.Log.Warn("a note of the user cannot be read", "error", err)
		} else if note != nil {
			return note
		}
	}
	return nil
}

// describer describes an annotated element. With an error it returns what is known, which may be nothing.
type describer func(n *vscodeipc.AnnotatedNode) (pick.Picked, error)

// longestNoted bounds each text of a page in a note, in characters.
const longestNoted = 500

// addNote speaks for the user. What the page chooses is quoted, on one line; the user's own words
// are below a line of ours, indented.
func (a *Agent) addNote(ctx context.Context, out *answer.Answer, n vscodeipc.Note, describe describer) {
	out.Addf("The user points you to:")
	var folders []string
	if in := a.inUse(); in != nil {
		folders = in.folders
	}
	for i, annotation := range n.Annotations {
		err := a.CheckOrigin(annotation.Page.URL)
		if err == nil {
			err = a.MayShow(ctx, folders, annotation.Page.URL)
		}
		if err != nil {
			out.Addf("%d. A page that is out of bounds: %v", i+1, err)
		} else {
			a.addAnnotation(ctx, out, i+1, annotation, describe)
		}
		addWords(out, fmt.Sprintf(" about %d", i+1), annotation.Text)
	}
	addWords(out, "", n.Text)
}

// addWords adds what the user has written, if that is anything.
func addWords(out *answer.Answer, about, text string) {
	if text != "" {
		out.AddUncutf("The user's own words%s:\n  %s\n", about, strings.ReplaceAll(text, "\n", "\n  "))
	}
}

// addAnnotation adds what an annotation is about, with its picture.
func (a *Agent) addAnnotation(
	ctx context.Context, out *answer.Answer, number int, n vscodeipc.Annotation, describe describer,
) {
	quoted := func(text string) string { return "“" + plain(text, longestNoted) + "”" }
	subject := "an area that no element covers"
	if n.Element != "" {
		subject = quoted(n.Element)
	}
	out.Quotef("%d. %s, in the page %s at %s%s", number, subject, quoted(n.Page.Title), quoted(n.Page.URL),
		a.addPicture(ctx, out, n.Picture))
	if n.Node == nil {
		return
	}
	picked, err := describe(n.Node)
	if picked.Selector != "" {
		out.Element(picked)
	}
	if err != nil {
		out.Quotef("More is not known: %s", plain(err.Error(), longestNoted))
	}
}

// addPicture adds the picture of an annotation, and returns where it is, for the end of a line. The
// reader of a shell gets a file, since the pictures of a command go where its user wants them.
func (a *Agent) addPicture(ctx context.Context, out *answer.Answer, data []byte) (where string) {
	kinds := map[string]output.Kind{"image/png": output.PNG, "image/jpeg": output.JPEG}
	mediaType := http.DetectContentType(data)
	kind, known := kinds[mediaType]
	if !known {
		return " (without a picture)"
	}
	if !a.Whole {
		out.Picture(data, strings.TrimPrefix(mediaType, "image/"))
		return fmt.Sprintf(" (picture %d)", out.Pictures())
	}
	file, err := a.outputFolder(ctx).File(DatedName("note", kind), kind)
	if err == nil {
		where, err = file.Save(data)
	}
	if err != nil {
		return fmt.Sprintf(" (its picture is not saved: %v)", err)
	}
	return " (" + where + ")"
}

// describeNode describes an annotated element, if a browser of the agent shows it to it.
func (a *Agent) describeNode(ctx context.Context, n *vscodeipc.AnnotatedNode) (picked pick.Picked, err error) {
	in := a.inUse()
	if in == nil {
		return picked, errNoTab
	}
	p, err := in.browser.Page(ctx, n.Target)
	if err != nil {
		return picked, err
	}
	if err := p.LearnURL(ctx); err != nil {
		return picked, err
	}
	if err := a.Bind(ctx, p, ""); err != nil {
		return picked, err
	}
	if err := a.mayRead(ctx, p); err != nil {
		return picked, err
	}
	return p.Picker().Describe(ctx, protocol.LoaderID(n.Document), protocol.BackendNodeID(n.ID))
}

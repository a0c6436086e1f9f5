package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"browser-coordinator/coordinator/page"
)

// downloadTimeout bounds the wait for a download that an action has started; most are
// complete by then.
const downloadTimeout = 2 * time.Second

// downloads handles the downloads in a browser of this session, which no user saves.
func (a *Agent) downloads(ctx context.Context) *page.Downloads {
	ctx = context.WithoutCancel(ctx)
	return &page.Downloads{
		Dir:  a.Launcher.Downloads(),
		Keep: func(temporary, name string) (string, error) { return a.keepDownload(ctx, temporary, name) },
	}
}

// keepDownload moves a file to the output folder, under a harmless name.
func (a *Agent) keepDownload(ctx context.Context, temporary, name string) (path string, err error) {
	from, err := os.Open(temporary)
	if err != nil {
		return "", err
	}
	path, _, err = a.outputFolder(ctx).Download(name).Write(func(to *os.File) error {
		_, err := io.Copy(to, from)
		return err
	})
	return path, errors.Join(err, from.Close(), os.Remove(temporary))
}

// downloaded reports downloads in the browser of the call: those that have ended
// since the last answer, and the one that the action has started, for which it waits
// briefly.
func (c *Call) downloaded(ctx context.Context) {
	in, out := c.in, c.Out
	if in == nil || in.owner != ofSession {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	began := out.Download()
	reported := began == ""
	for _, d := range in.browser.Downloaded(ctx, began) {
		reported = reported || d.URL == began
		if d.Failed != "" {
			out.Quotef("The download of %s failed: %s.", d.URL, d.Failed)
			continue
		}
		reason := ""
		if filepath.Ext(d.File) == ".bin" && filepath.Ext(d.Name) != ".bin" {
			reason = fmt.Sprintf(" (it is named %s; .bin is added so that no program runs it by its name)", d.Name)
		}
		out.Saved(d.File)
		out.Quotef("Downloaded %s (%d B) from %s%s", d.File, d.Size, d.URL, reason)
	}
	if !reported {
		out.Addf("A later answer says where it is when it has ended.")
	}
}

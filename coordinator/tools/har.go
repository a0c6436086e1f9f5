package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/har"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type harIn struct {
	Filter   string `json:"filter,omitempty" about:"regular expression for URLs"`
	Filename string `json:"filename,omitempty" about:"default: requests-TIME.har"`
	inPage
}

var _ = define(Tool{
	Name: "browser_har", Title: "Save a HAR",
	Description: "Save the page's requests with bodies and WebSocket messages, as HAR 1.2 for DevTools or Playwright",
	Set:         "network", Difference: "theirs has none",
	Effect:  Reads,
	Shell:   []command{{Name: "har", Args: "[filename]"}},
	Returns: "the file: the tab's last 1,000 requests, and how many responses lack their body",
	Notes: "It has **cookies and `Authorization`**; only the values of `--secrets` are hidden. A `comment` says why " +
		"a body is missing. Request bodies that are not text are left out, and so is binary data with a value of " +
		"`--secrets`. Without a response the status is -1, and `_error` and `_failureText` have the reason.",
	Example: `{"filename": "shop.har"}`,
}, calls[harIn]{Do: saveHAR})

func saveHAR(ctx context.Context, c *agent.Call, in harIn) error {
	filter, err := snapshot.Pattern(in.Filter)
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("requests", output.HAR)), output.HAR)
	if err != nil {
		return err
	}
	var written, refused, lacking int
	path, size, err := file.Write(func(to *os.File) error {
		archive := har.New(to, c.Agent.Version, c.Agent.Secrets.Hide)
		var all []history.Request
		all, refused = answer.Readable(c.Agent.Origins, p.History().Network.Requests(ctx))
		for _, r := range all {
			if !filter.MatchString(r.URL) {
				continue
			}
			if c.Agent.MayShow(ctx, p.Folders(), r.URL) != nil {
				refused++
				continue
			}
			details, err := p.History().Network.Request(ctx, r.Seq)
			if errors.Is(err, history.ErrForgotten) { // newer ones have come meanwhile
				continue
			}
			if err != nil {
				return err
			}
			written++
			if err := archive.Add(details); err != nil {
				return err
			}
		}
		lacking = archive.Lacking
		return archive.Close()
	})
	if err != nil {
		return err
	}
	c.Out.Addf("Saved %d requests to %s (%s). It holds cookies and other credentials that were sent.", written, path,
		bytesText(size))
	if lacking > 0 {
		c.Out.Addf("%d of the responses lack their body, or a part of it: `comment` says why.", lacking)
	}
	c.Out.LeftOut(refused, "requests")
	return nil
}

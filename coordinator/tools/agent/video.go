package agent

import (
	"context"
	"strings"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/video"
)

// Video is a recording and its page.
type Video struct {
	*video.Recording
	Page *page.Page
}

// CheckVideo refuses a video if the agent may not read what its page shows now.
func (c *Call) CheckVideo(ctx context.Context, v *Video) error {
	if err := v.Page.LearnURL(ctx); err != nil {
		return err
	}
	return c.Agent.mayRead(ctx, v.Page)
}

// beginInVideo notes an action in the video of its page.
func (c *Call) beginInVideo(p *page.Page) {
	v := c.Agent.Video.Load()
	if v == nil || v.Page.ID() != p.ID() || c.Request.readOnly() || c.inVideo {
		return
	}
	c.inVideo = true
	v.Begin(c.Agent.Secrets.Hide(c.words()))
}

// words are what the call does, without its elements: for example navigate to an address.
func (c *Call) words() string {
	words := strings.ReplaceAll(strings.TrimPrefix(c.Request.Operation.Name, "browser_"), "_", " ")
	if len(c.Request.Aims) == 0 && c.Request.Subject != nil {
		words += " " + c.Request.Subject("")
	}
	return words
}

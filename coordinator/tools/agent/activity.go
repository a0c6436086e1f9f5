package agent

import (
	"context"
	"slices"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/vscodeipc"
)

// The user of a window sees which calls run there and, of those that have ended, why they were
// allowed and what followed them.

const (
	// runsLong is how long a call runs before the user sees it: of most the outcome is seen alone.
	runsLong = 200 * time.Millisecond
	// maxRunning bounds the calls that the user sees run.
	maxRunning = 16
	// longestScript bounds a script in a report, in characters.
	longestScript = 16_000
)

// runningCall is a call that has not ended.
type runningCall struct {
	vscodeipc.RunningCall
	isLong bool // see runsLong
}

// listRunning has the user see the call from when it has run for long until end is called.
func (c *Call) listRunning() (end func()) {
	if c.permission.reported == nil {
		return func() {}
	}
	call := vscodeipc.RunningCall{
		Time: c.began.UnixMilli(), Act: c.Request.Operation.Name, Target: c.Agent.Secrets.Hide(c.subject()),
		Script: c.script(),
	}
	c.Agent.mu.Lock()
	running := c.Agent.presence.addRunning(call)
	c.Agent.mu.Unlock()
	timer := time.AfterFunc(runsLong, func() { c.Agent.becomeLong(running) })
	return func() {
		timer.Stop()
		c.Agent.mu.Lock()
		defer c.Agent.mu.Unlock()
		all := &c.Agent.presence.running
		*all = slices.DeleteFunc(*all, func(r *runningCall) bool { return r == running })
		if running.isLong {
			c.Agent.announce()
		}
	}
}

// addRunning adds a call to those that run. Windows know each by its time, which therefore no two have.
// Agent.mu is held.
func (p *presence) addRunning(call vscodeipc.RunningCall) *runningCall {
	for slices.ContainsFunc(p.running, func(r *runningCall) bool { return r.Time == call.Time }) {
		call.Time++
	}
	running := &runningCall{RunningCall: call}
	p.running = append(p.running, running)
	return running
}

// becomeLong has the user see a call, unless it has ended.
func (a *Agent) becomeLong(running *runningCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(a.presence.running, running) {
		running.isLong = true
		a.announce()
	}
}

// longRunning are the calls that the user sees run. Agent.mu is held.
func (p *presence) longRunning() (all []vscodeipc.RunningCall) {
	for _, running := range p.running {
		if running.isLong && len(all) < maxRunning {
			all = append(all, running.RunningCall)
		}
	}
	return all
}

// script is the script that the call runs; empty: none.
func (c *Call) script() string { return limit(c.Agent.Secrets.Hide(c.Request.Script), longestScript) }

// details are why the call was allowed, and what has followed it by now.
func (c *Call) details() *vscodeipc.ActivityDetails {
	details := &vscodeipc.ActivityDetails{
		Duration: time.Since(c.began).Milliseconds(), Script: c.script(),
		Reason: c.permission.grounds.Reason, Covers: c.permission.grounds.Covers,
	}
	for _, e := range c.Out.Effects() {
		details.Effects = append(details.Effects, vscodeipc.ActivityEffect(e))
	}
	return details
}

const (
	// pictureSide bounds the sides of a picture in a report, in pixels, and maxPicture its bytes.
	pictureSide, maxPicture = 320, 24_000
	pictureQuality          = 60
	pictureTimeout          = 2 * time.Second
)

// pictured is the page of which the user gets a picture with the report; nil: of none. It is none in
// which a screenshot would be refused, or would wait.
func (c *Call) pictured(ctx context.Context, failed error) *page.Page {
	p := c.effect.page
	if p == nil || failed != nil && !c.effect.changed || c.Request.readOnly() || c.HasNext() ||
		!c.permission.reported.ShowsPictures() || p.Dialog() != nil || c.effect.change.Paused != nil ||
		c.Agent.mayRead(ctx, p) != nil {
		return nil
	}
	return p
}

// reportPictured reports the call with a picture of the page, as soon as there is one: the agent does
// not wait for it. Its next call ends the wait: the page no longer shows what followed this one.
func (c *Call) reportPictured(done vscodeipc.Activity, p *page.Page) {
	ctx, cancel := context.WithTimeout(context.Background(), pictureTimeout)
	c.Agent.mu.Lock()
	c.Agent.endPicture = cancel
	c.Agent.mu.Unlock()
	c.Agent.watchers.Go(func() {
		defer cancel()
		done.Details.Picture = picture(ctx, p)
		c.permission.reported.Report(func() vscodeipc.Activity { return done })
	})
}

// picture is a small picture of what a page shows; nil: there is none.
func picture(ctx context.Context, p *page.Page) []byte {
	image, err := p.Screen().Screenshot(ctx, capture.Options{
		Format: "jpeg", Quality: pictureQuality, MaxWidth: pictureSide, MaxHeight: pictureSide,
	})
	if err != nil || ctx.Err() != nil {
		return nil
	}
	if _, err := image.Fit(maxPicture); err != nil || len(image.Data) > maxPicture {
		return nil
	}
	return image.Data
}

// stopPicture ends the wait for the picture of the last action.
func (a *Agent) stopPicture() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.endPicture != nil {
		a.endPicture()
	}
}

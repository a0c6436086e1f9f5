package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/video"
	"browser-coordinator/coordinator/tools/agent"
)

type startVideoIn struct {
	Filename string     `json:"filename,omitempty" about:"default: video-TIME.webm"`
	Size     *videoSize `json:"size,omitempty" about:"default: the page's, at most 1280 each"`
	FPS      float64    `json:"fps,omitempty" about:"default: 25"`
	Cursor   bool       `json:"cursor,omitempty" is:"unlisted"`
	inPage
}

type videoSize struct {
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}

var _ = define(Tool{
	Name: "browser_start_video", Title: "Start a video",
	Description: "Begin to record the tab as WebM, with each action, its element and the pointer drawn in",
	Set:         "devtools", Effect: Reads,
	Shell:   []command{{Name: "video start", Args: "[filename]", Omits: "cursor"}},
	Returns: "the file, which is complete when the video has ended",
	Notes: "It is VP8; the page does not notice it. Each action in the tab is drawn for 2 s and is a chapter of the " +
		"file. Playwright MCP's `cursor` has no effect. One video at a time, of one tab. It ends, and is saved, " +
		"after 30 minutes, with the tab, or with the session. **Pictures show what `--secrets` hides in text.**",
	Example: `{"filename": "order.webm", "size": {"width": 800, "height": 600}}`,
}, calls[startVideoIn]{Do: startVideo})

type stopVideoIn struct {
	inWindow
}

var _ = define(Tool{
	Name: "browser_stop_video", Title: "Stop the video", Description: "Save the video",
	Set: "devtools", Effect: Reads,
	Shell:   []command{{Name: "video stop"}},
	Returns: "the file, its length and chapters, and why it ended early, if it did",
	Example: `{}`,
}, calls[stopVideoIn]{Do: stopVideo})

type storyboardIn struct {
	Filename string `json:"filename,omitempty"`
	inWindow
}

var _ = define(Tool{
	Name: "browser_storyboard", Title: "Storyboard",
	Description: "One small picture with a frame for each action of the video under way",
	Set:         "devtools", Difference: "theirs has none",
	Effect: Reads,
	Shell:  []command{{Args: "[filename]"}},
	Returns: "a JPEG, at most 1,064 pixels wide: the last 20 actions, each with its number, its words, and the " +
		"page when it began, with the element marked",
	Notes: "It needs a video under way, and the permission to read what the tab shows now. An action without an " +
		"element, such as a navigation, has the page 2 s later, or when the next action began.",
	Example: `{}`,
}, calls[storyboardIn]{Do: storyboard})

func storyboard(ctx context.Context, c *agent.Call, in storyboardIn) error {
	file, err := c.File(ctx, in.Filename, output.JPEG)
	if err != nil {
		return err
	}
	recording := c.Agent.Video.Load()
	if recording == nil {
		return errNoVideo
	}
	if !recording.Ended() {
		if err := c.CheckVideo(ctx, recording); err != nil {
			return err
		}
	}
	picture, err := recording.Storyboard(ctx)
	if errors.Is(err, video.ErrEnded) {
		return fmt.Errorf("%w: stop it with browser_stop_video", err)
	}
	if err != nil {
		return err
	}
	if file == nil {
		c.Out.Picture(picture, "jpeg")
		return nil
	}
	path, err := file.Save(picture)
	return c.Done(err, "Saved %s (%s).", path, bytesText(int64(len(picture))))
}

var (
	errNoVideo  = errors.New("no video is being recorded: start one with browser_start_video")
	errHasVideo = errors.New("a video has begun already: stop it with browser_stop_video first")
)

// Limits of a video's size and frame rate.
const (
	minSide, maxSide = 16, 4096
	minRate, maxRate = 1, 60
)

func startVideo(ctx context.Context, c *agent.Call, in startVideoIn) error {
	settings := video.Settings{Rate: in.FPS, Hide: c.Agent.Secrets.Hide}
	if in.Size != nil {
		settings.Width, settings.Height = int(in.Size.Width), int(in.Size.Height)
		if min(settings.Width, settings.Height) < minSide || max(settings.Width, settings.Height) > maxSide {
			return fmt.Errorf("size: want %d to %d pixels for each side", minSide, maxSide)
		}
	}
	if in.FPS != 0 && (in.FPS < minRate || in.FPS > maxRate) {
		return fmt.Errorf("fps: want %d to %d", minRate, maxRate)
	}
	if c.Agent.Video.Load() != nil {
		return errHasVideo
	}
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("video", output.WebM)), output.WebM)
	if err != nil {
		return err
	}
	settings.IsOutside = func(address string) bool { return !c.Agent.MayFilm(p, address) }
	recording, err := p.Recorder().Start(ctx, settings, file.Write)
	if err != nil {
		return err
	}
	if !c.Agent.Video.CompareAndSwap(nil, &agent.Video{Recording: recording, Page: p}) { // another call was first
		_, err := recording.Stop(ctx)
		return errors.Join(errHasVideo, err)
	}
	return c.Done(nil, "The video has begun: %s. It is complete after browser_stop_video.", recording.Path())
}

func stopVideo(ctx context.Context, c *agent.Call, _ stopVideoIn) error {
	recording := c.Agent.Video.Swap(nil)
	if recording == nil {
		return errNoVideo
	}
	saved, err := recording.Stop(ctx)
	if err != nil {
		return err
	}
	c.Out.Saved(saved.Path)
	c.Out.Addf("Saved %s (%s): %s, %d chapters.", saved.Path, bytesText(saved.Size),
		saved.Length.Round(100*time.Millisecond), saved.Chapters)
	if saved.Reason != nil {
		c.Out.Addf("It ended early: %v.", saved.Reason)
	}
	return nil
}

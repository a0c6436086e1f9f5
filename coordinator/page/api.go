package page

import (
	"context"
	"encoding/json"
)

// Driver is what a page offers. It is declared so that whoever shapes tools can
// be tested without a browser; *Page implements it.
type Driver interface {
	Info(ctx context.Context) (Info, error)

	Navigate(ctx context.Context, url string) (Change, error)
	Back(ctx context.Context) (Change, error)
	Forward(ctx context.Context) (Change, error)
	Reload(ctx context.Context) (Change, error)

	Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error)
	Screenshot(ctx context.Context, opts ScreenshotOptions) (Image, error)
	// Console returns the kept messages of a level and above, oldest first: error,
	// warning, info or debug; empty means info.
	Console(level string) []Message
	ClearConsole()
	Network() []Request
	RequestDetails(ctx context.Context, seq int64) (RequestDetails, error)
	// Evaluate runs "() => …" or, with a target, "(element) => …", or a bare
	// expression, awaits a promise and returns the value as JSON (null for
	// undefined).
	Evaluate(ctx context.Context, script, target string) (json.RawMessage, error)

	Click(ctx context.Context, target string, opts ClickOptions) (Change, error)
	Hover(ctx context.Context, target string) (Change, error)
	Type(ctx context.Context, target, text string, opts TypeOptions) (Change, error)
	// PressKey takes a name ("Enter", "ArrowLeft", "a") with modifiers in front
	// ("Control+A").
	PressKey(ctx context.Context, key string) (Change, error)
	SelectOption(ctx context.Context, target string, values ...string) (Change, error)
	FillForm(ctx context.Context, fields []Field) (Change, error)
	Drag(ctx context.Context, from, to string) (Change, error)
	Upload(ctx context.Context, target string, files ...string) (Change, error)
	WaitFor(ctx context.Context, opts WaitOptions) (Change, error)

	// Dialog returns the open dialog, or nil.
	Dialog() *Dialog
	HandleDialog(ctx context.Context, accept bool, promptText string) (Change, error)
}

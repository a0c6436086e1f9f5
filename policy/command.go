package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Permission is what a client of a window's endpoint may do.
type Permission struct {
	Mode Mode // of the window
	// Allowed: in [ModeAsk] the user has allowed the client to act.
	Allowed bool
	// AllowClose: the user has started the endpoint with --allow-close, so that clients which
	// may act may end the browser too.
	AllowClose bool
}

// acts reports whether the client may do more than look.
func (p Permission) acts() bool { return p.Mode == ModeFull || p.Mode == ModeAsk && p.Allowed }

// DecideCommand decides whether a client may send a CDP command.
func DecideCommand(p Permission, method string, params []byte) Decision {
	switch {
	case len(params) > maxParameters && !large[method]:
		return deny(method, fmt.Sprintf("it has more than %d MB of parameters, which would stop the browser for "+
			"seconds, for all clients. Send less at a time.", maxParameters>>20))
	case !p.acts():
		return decideView(p, method, params)
	case p.AllowClose:
		return Decision{Outcome: Allow}
	default:
		return decideFull(method, params)
	}
}

// maxParameters bounds the parameters of a command: Chromium needs seconds to read more,
// for all clients.
const maxParameters = 16 << 20

// large are the methods that carry files or documents, and may have more.
var large = map[string]bool{
	"Fetch.continueRequest": true, "Fetch.fulfillRequest": true, "Page.setDocumentContent": true,
	"Runtime.callFunctionOn": true, "Runtime.evaluate": true,
}

// destructive are the commands that end the browser or a page's process, or open a way to
// do so that no rule sees, if the condition holds. Nil: always. A condition holds also for
// parameters that cannot be read.
var destructive = map[string]func(arguments) bool{
	"Browser.close":                        nil,
	"Browser.crash":                        nil,
	"Browser.crashGpuProcess":              nil,
	"CSS.resolveValues":                    hasOddPseudo,
	"Emulation.setDisplayFeaturesOverride": hasNoFeatures,
	"Page.captureScreenshot":               isHugePicture,
	"Page.crash":                           nil,
	"Page.navigate":                        hasDebugURL,
	"Page.printToPDF":                      hasSheetInTemplate,
	"Target.createTarget":                  hasDebugURL,
	// What a page sends over it passes no rule.
	"Target.exposeDevToolsProtocol": nil,
}

// Carrier is the method that carries another command, as a text in its parameters.
const Carrier = "Target.sendMessageToTarget"

// nesting bounds how deep commands may be nested.
const nesting = 4

// Carried is the innermost command that [Carrier] carries; false: it cannot be read.
func Carried(params []byte) (method string, inner []byte, ok bool) {
	for range nesting {
		text, isText := read(params).text("message")
		command := read([]byte(text))
		if method, ok = command.text("method"); !isText || !ok || method == "" {
			return "", nil, false
		}
		if params = command["params"]; method != Carrier {
			return method, params, true
		}
	}
	return "", nil, false
}

// decideFull denies what is destructive.
func decideFull(method string, params []byte) Decision {
	if method == Carrier {
		var ok bool
		if method, params, ok = Carried(params); !ok {
			return deny(Carrier, "the command in it cannot be read.")
		}
	}
	condition, listed := destructive[method]
	if !listed || condition != nil && !holds(condition, params) {
		return Decision{Outcome: Allow}
	}
	if method == "Browser.close" {
		refusal := deny(method, "the browser stays open for its user; only this connection was closed")
		return refusal.withOutcome(Disconnect)
	}
	return deny(method, "it would end the browser or a page, or let a page do so, for the user and every other "+
		"client. Only the coordinator's option --allow-close permits that.")
}

func holds(condition func(arguments) bool, params []byte) bool {
	if len(params) == 0 || string(params) == "null" {
		return false
	}
	args := read(params)
	return args == nil || condition(args)
}

// hasOddPseudo: Chromium gives these pseudo elements to no element, and its lookup ends the
// process of the page.
func hasOddPseudo(args arguments) bool {
	kind, _ := args.text("pseudoType")
	return kind == "interest-hint" || kind == "overscroll-area-parent"
}

// hasNoFeatures: Chromium reads the first feature of the list, and ends if it has none.
func hasNoFeatures(args arguments) bool {
	var features []json.RawMessage
	return json.Unmarshal(args["features"], &features) != nil || len(features) == 0
}

// hasSheetInTemplate: the process of the page ends when a header or footer waits for a
// style sheet.
func hasSheetInTemplate(args arguments) bool {
	if args["displayHeaderFooter"] == nil || args.is("displayHeaderFooter", "false") {
		return false
	}
	header, _ := args.text("headerTemplate")
	footer, _ := args.text("footerTemplate")
	all := strings.ToLower(header + footer)
	return strings.Contains(all, "<link") || strings.Contains(all, "@import")
}

// maxPixels bounds a picture of a part of a page: 1 GB in the memory of its process.
const maxPixels = 1 << 28

// isHugePicture: a clip has a scale, and its picture any size.
func isHugePicture(args arguments) bool {
	if args["clip"] == nil {
		return false
	}
	clip := read(args["clip"])
	number := func(name string) float64 {
		n, err := strconv.ParseFloat(string(clip[name]), 64)
		if err != nil {
			return math.NaN()
		}
		return n
	}
	scale := number("scale")
	return !(number("width")*number("height")*scale*scale <= maxPixels)
}

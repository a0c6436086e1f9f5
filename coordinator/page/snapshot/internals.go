package snapshot

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// states are the properties of the browser's accessibility tree that a snapshot shows, by
// their names as attributes of ARIA.
var states = []string{
	"checked", "pressed", "expanded", "selected", "disabled", "required", "readonly", "level", "invalid", "valuetext",
	"modal", "busy",
}

// note notes whether a document has custom elements to ask about. numbering is held.
func (r *Reader) note(f frame.Frame, customs int) {
	delete(r.customs, f.ID)
	if customs > 0 {
		r.customs[f.ID] = f.Generation
	}
}

// internals asks the browser for the roles, names and states of the custom elements that the
// snapshot script has found, and passes them to our world. It reports whether something is new.
func internals(ctx context.Context, frames *frame.Tree, session *cdp.Session, id protocol.FrameID) (bool, error) {
	_, world, err := frames.World(ctx, id)
	if err != nil {
		return false, err
	}
	elements, release, err := elementsOf(ctx, session, world, "memory.customs")
	if err != nil || len(elements) == 0 {
		return false, err
	}
	defer release()
	// All commands are sent before the first wait.
	trees := map[int]*cdp.Pending{}
	for n, element := range elements {
		params := accessibility.GetPartialAXTreeParams{ObjectID: element, FetchRelatives: new(false)}
		if trees[n], err = session.Start(ctx, accessibility.CommandGetPartialAXTree, params); err != nil {
			return false, err
		}
	}
	semantics := make([]map[string]string, len(trees))
	for n, pending := range trees {
		var tree accessibility.GetPartialAXTreeResult
		if err := pending.Wait(ctx, &tree); err != nil && !cdp.Refused(err) {
			return false, err
		}
		if len(tree.Nodes) > 0 && n < len(semantics) {
			semantics[n] = semanticsOf(tree.Nodes[0])
		}
	}
	fresh := false
	err = frame.CallIn(ctx, session, world, frame.Call("internals"), semantics, &fresh)
	return fresh, err
}

// elementsOf returns the elements in a list of our world, by their places in it, and what releases the
// list.
func elementsOf(
	ctx context.Context, session *cdp.Session, world runtime.ExecutionContextID, list string,
) (elements map[int]runtime.RemoteObjectID, release func(), err error) {
	params := runtime.EvaluateParams{Expression: list, ContextID: world}
	found, err := protocol.Call(ctx, session, runtime.Evaluate, params)
	if err != nil || found.Result == nil || found.Result.ObjectID == "" {
		return nil, nil, err
	}
	release = func() { frame.Release(ctx, session, found.Result.ObjectID) }
	properties, err := protocol.Call(ctx, session, runtime.GetProperties, runtime.GetPropertiesParams{
		ObjectID: found.Result.ObjectID, OwnProperties: new(true),
	})
	elements = map[int]runtime.RemoteObjectID{}
	for _, property := range properties.Result {
		n, invalid := strconv.Atoi(property.Name)
		if invalid == nil && property.Value != nil && property.Value.Subtype == runtime.RemoteObjectSubtypeNode {
			elements[n] = property.Value.ObjectID
		}
	}
	if err != nil || len(elements) == 0 {
		release()
	}
	return elements, release, err
}

// semanticsOf are the role of a node, its name as "label", and its states as attributes of ARIA.
func semanticsOf(n *accessibility.Node) map[string]string {
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `"`)
	}
	if n.Ignored {
		return nil
	}
	is := map[string]string{"role": text(n.Role)}
	var name string
	if n.Name != nil && json.Unmarshal(n.Name.Value, &name) == nil && name != "" {
		is["label"] = name
	}
	if value := text(n.Value); value != "" {
		is["valuenow"] = value
	}
	for _, property := range n.Properties {
		if name := string(property.Name); slices.Contains(states, name) && text(property.Value) != "" {
			is[name] = text(property.Value)
		}
	}
	return is
}

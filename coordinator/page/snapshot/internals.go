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
var states = []string{"checked", "pressed", "expanded", "selected", "disabled", "required", "readonly", "level", "invalid", "valuetext", "modal", "busy"}

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
	list, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{Expression: "memory.customs", ContextID: world})
	if err != nil || list.Result == nil || list.Result.ObjectID == "" {
		return false, err
	}
	defer func() {
		_, _ = session.Start(context.WithoutCancel(ctx), runtime.CommandReleaseObject, runtime.ReleaseObjectParams{ObjectID: list.Result.ObjectID})
	}()
	properties, err := protocol.Call(ctx, session, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: list.Result.ObjectID, OwnProperties: new(true)})
	if err != nil {
		return false, err
	}
	// All commands are sent before the first wait.
	asked := map[int]*cdp.Pending{}
	for _, property := range properties.Result {
		n, err := strconv.Atoi(property.Name)
		if err != nil || property.Value == nil || property.Value.ObjectID == "" {
			continue
		}
		pending, err := session.Start(ctx, accessibility.CommandGetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: property.Value.ObjectID, FetchRelatives: new(false)})
		if err != nil {
			return false, err
		}
		asked[n] = pending
	}
	semantics := make([]map[string]string, len(asked))
	for n, pending := range asked {
		var tree accessibility.GetPartialAXTreeResult
		if err := pending.Wait(ctx, &tree); err != nil && !cdp.Refused(err) {
			return false, err
		}
		if len(tree.Nodes) > 0 && n < len(semantics) {
			semantics[n] = semanticsOf(tree.Nodes[0])
		}
	}
	argument, err := json.Marshal(semantics)
	if err != nil {
		return false, err
	}
	reply, err := protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: frame.Call("internals"), ExecutionContextID: world,
		Arguments: []*runtime.CallArgument{{Value: argument}}, ReturnByValue: new(true),
	})
	return err == nil && reply.Result != nil && string(reply.Result.Value) == "true", err
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

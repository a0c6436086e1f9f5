package input

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page/frame"
)

// copied is CDP's bit for a drag that copies (Input.DragData).
const copied = 1

// Drop drops files or data, by MIME type, onto a target as if they came from
// another program. The caller must decide which files may be read.
func (i *Input) Drop(target string, files []string, data map[string]string) Action {
	if len(files) == 0 && len(data) == 0 {
		return Action{Err: errors.New("name what to drop: paths or data")}
	}
	// CDP requires the list, even if it is empty.
	drag := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: copied}
	for _, kind := range slices.Sorted(maps.Keys(data)) {
		drag.Items = append(drag.Items, &input.DragDataItem{MimeType: kind, Data: data[kind]})
	}
	return i.act("dropping onto "+target, target, toDrop, 0, func(ctx context.Context, s *spot, _ *Outcome) error {
		if err := i.moveTo(ctx, s, i.opts.ActionTimeout); err != nil {
			return err
		}
		if len(files) > 0 {
			reads, err := i.readsFiles(ctx, s.Element, files)
			if err != nil {
				return err
			}
			if !reads {
				return &frame.TargetError{Target: target, Reason: "is in a browser on another machine, which cannot " +
					"read the files of this one. Give them to the page's file input"}
			}
		}
		accepted, err := i.dropOn(ctx, s.Element, drag, s.x, s.y, true)
		if err == nil && !accepted {
			err = &frame.TargetError{
				Target: target, Reason: "does not take what was dropped: the page did not accept the drag over it",
			}
		}
		return err
	})
}

// dropOn drops dragged data at a point of an element, and reports whether the page accepts
// that there. Of no element, nil, that is not known. Where neither the page nor a field takes
// what comes from outside of the browser, it is not dropped: the browser would open it in a tab.
func (i *Input) dropOn(
	ctx context.Context, e *frame.Element, data *input.DragData, x, y float64, outside bool,
) (accepted bool, err error) {
	const (
		enter = input.DispatchDragEventTypeDragEnter
		over  = input.DispatchDragEventTypeDragOver
		drop  = input.DispatchDragEventTypeDrop
	)
	// What the page inserts under the pointer, such as the placeholder of a list that sorts,
	// gets its first event only when the browser sends another. A user's drag sends many.
	hover := []input.DispatchDragEventType{enter, over, over, over, over}
	if e == nil {
		return true, i.mouse.drag(ctx, data, x, y, append(hover, drop)...)
	}
	watching, err := e.Start(ctx, "watchDrop", outside)
	if err != nil {
		return false, err
	}
	if err := i.mouse.drag(ctx, data, x, y, hover...); err != nil {
		return false, err
	}
	if err := e.Outcome(ctx, watching, nil); err != nil {
		return false, err
	}
	if outside {
		takes := false
		if err := e.Call(ctx, "takesDrop", nil, &takes); err != nil {
			return false, err
		}
		if !takes {
			return false, i.mouse.drag(ctx, data, x, y, input.DispatchDragEventTypeDragCancel)
		}
	}
	if err := i.mouse.drag(ctx, data, x, y, drop); err != nil {
		return false, err
	}
	err = i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
		return e.Call(ctx, "dropped", nil, &accepted)
	})
	if err != nil && ctx.Err() == nil { // the drop has opened another document
		return true, nil
	}
	return accepted, err
}

package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"browser-coordinator/vscodeipc"
)

// NotOfferedError reports a command that a window does not have.
type NotOfferedError struct {
	Window  Window
	Command string
}

func (e *NotOfferedError) Error() string {
	switch e.Window.Server.Kind {
	case "vscode":
	case "terminal":
		return fmt.Sprintf("%s is not a VS Code window, so that it cannot do this (%s)", e.Window.Label(), e.Command)
	default:
		return fmt.Sprintf("%s of %s cannot do this (%s)", e.Window.Server, e.Window.Label(), e.Command)
	}
	return fmt.Sprintf("the Browser Coordinator extension of %s cannot do this (%s): update it, and reload the "+
		"window", e.Window.Label(), e.Command)
}

// Call runs one of a window's commands (specs/window-protocol/commands.md) and stores its
// result in result, unless that is nil. It ends with the context, since a user may need
// time to answer.
func (r *Registry) Call(ctx context.Context, window Window, command string, arg, result any) error {
	if !slices.Contains(window.Commands, command) {
		return &NotOfferedError{window, command}
	}
	r.mu.Lock()
	e := r.entries[window.Address]
	r.mu.Unlock()
	if e == nil {
		return fmt.Errorf("%s has closed", window.Label())
	}
	err := e.watcher.Call(ctx, command, arg, result)
	if fault, ok := errors.AsType[*vscodeipc.Error](err); ok && fault.Code == vscodeipc.CodeUnknownCommand {
		return &NotOfferedError{window, command}
	}
	return err
}

package chrome

import "os"

func runsAsRoot() bool { return false }

// terminate kills: Windows has no signal for a process without a console. A caller that
// wants the profile saved sends Browser.close first.
func (b *Browser) terminate() { b.kill() }

// guard has nothing to do: the browser's job object ends when this process dies.
type guard struct{}

func newGuard(string) (*guard, error) { return &guard{}, nil }

func (*guard) watch(*os.Process) error { return nil }

func (*guard) release() {}

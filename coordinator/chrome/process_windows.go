package chrome

import (
	"fmt"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

func runsAsRoot() bool { return false }

func setProcessGroup(*exec.Cmd) {}

// terminate has no polite form on Windows for a process without a console;
// whoever wants the profile saved sends Browser.close first.
func (b *Browser) terminate() { b.kill() }

// kill ends the browser's job: the browser and all its helpers.
func (b *Browser) kill() {
	if err := windows.TerminateJobObject(b.guard.job, 1); err != nil {
		b.log.Debug("end the browser's job", "pid", b.PID(), "err", err)
	}
	if err := b.cmd.Process.Kill(); err != nil {
		b.log.Debug("kill the browser", "pid", b.PID(), "err", err)
	}
}

// guard is a job object that ends its processes when its last handle is closed,
// which the system does when this process dies.
type guard struct{ job windows.Handle }

func newGuard(string) (*guard, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		windows.CloseHandle(job)
		return nil, fmt.Errorf("set up the job object: %w", err)
	}
	return &guard{job: job}, nil
}

func (g *guard) watch(browser *os.Process) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(browser.Pid))
	if err != nil {
		return fmt.Errorf("open the browser's process: %w", err)
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(g.job, process)
}

func (g *guard) release() { windows.CloseHandle(g.job) }

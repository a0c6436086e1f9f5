package group

import (
	"fmt"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Group is a program with the processes that it has started, as a job object. The system
// ends the processes when the job's last handle closes, which also happens when this
// process dies.
type Group struct {
	cmd *exec.Cmd
	job windows.Handle
}

// New prepares a group for a command that has not been started yet.
func New(cmd *exec.Cmd) (*Group, error) {
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
	return &Group{cmd, job}, nil
}

// Started is called when the command has been started.
func (g *Group) Started() error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
		uint32(g.cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("open the process: %w", err)
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(g.job, process)
}

// Kill ends all that are left, also when the program itself has ended.
func (g *Group) Kill() error { return windows.TerminateJobObject(g.job, 1) }

// Close releases the group's resources.
func (g *Group) Close() { windows.CloseHandle(g.job) }

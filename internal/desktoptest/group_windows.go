package desktoptest

import "os/exec"

func group(*exec.Cmd) {}

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }

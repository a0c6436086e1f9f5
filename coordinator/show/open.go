package show

// Open opens a link in the user's web browser, and does not wait for it: the browser may be the
// process that it starts.
func Open(link string) error {
	cmd, err := opener(link)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

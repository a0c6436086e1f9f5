package main

import "github.com/spf13/cobra"

// launchFlags let a person have a browser launched when a client wants one.
type launchFlags struct {
	launch, headed bool
	browser        browserFlags
}

const launchHelp = "start the window's browser when a client wants one: its launch configuration, else a browser of its own"

func (f *launchFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.launch, "launch", false, launchHelp)
	cmd.Flags().BoolVar(&f.headed, "headed", false, "show the window of a browser of its own")
	f.browser.launch(cmd)
}

// own is the browser that would be launched; nil without --launch.
func (f *launchFlags) own(p *program) (*ownBrowser, error) {
	if err := f.browser.check(); err != nil {
		return nil, err
	}
	if !f.launch {
		if f.headed || f.browser != (browserFlags{}) {
			return nil, wrongUse("what browser is launched, and how, is for --launch alone: add it, or leave the other options away")
		}
		return nil, nil
	}
	if _, err := f.browser.find(); err != nil {
		if f.browser.browser != "" || f.browser.executable != "" {
			return nil, err
		}
		// The window's launch configuration may bring its own.
		p.logger.Warn("only a window's launch configuration can start a browser", "why", err)
	}
	return &ownBrowser{find: f.browser.find, options: f.browser.options(!f.headed, p.logger)}, nil
}

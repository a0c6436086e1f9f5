package main

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/provider"
	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/policy"
)

// browserFlags choose the browser to launch, and its options.
type browserFlags struct {
	browser, executable      string
	profile, proxy, viewport string
	isolated                 bool
	headed, headless         bool
	noDisplay                string   // the next step where there is no display
	access                   string   // in the user's own browser
	certificates             []string // flag ignore-https-errors
	debuggingPort            *int     // nil: none

	provider provider.Choice
	locals   []string // flags that exclude it
}

// whichBrowser adds the flags that choose a browser.
func (f *browserFlags) whichBrowser(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.browser, "browser", "", "launch the browser `NAME`: chrome, chromium, msedge or brave "+
		"(default: the first that is installed)")
	cmd.Flags().StringVar(&f.executable, "executable", "",
		"launch the browser `FILE` (default: $"+chrome.EnvBrowser+")")
	setByVariable(cmd, "executable", chrome.EnvBrowser)
	cmd.MarkFlagsMutuallyExclusive("browser", "executable")
	complete(cmd, "browser", chrome.Names...)
}

const certificatesFlag = "ignore-https-errors"

// add adds the flags for launching a browser, and for one that runs elsewhere. headed is
// whether its window is visible by default. locals are further flags that only concern a
// browser on this machine.
func (f *browserFlags) add(cmd *cobra.Command, headed bool, locals ...string) {
	f.whichBrowser(cmd)
	cmd.Flags().BoolVar(&f.headed, "headed", headed, "show the window of the private browser")
	cmd.Flags().BoolVar(&f.headless, "headless", !headed, "run the browser without a visible window")
	cmd.MarkFlagsMutuallyExclusive("headed", "headless")
	usual, noDisplay := "headless", "leave --headed away"
	if headed {
		usual, noDisplay = "headed", "add --headless"
	}
	f.noDisplay = noDisplay
	if err := cmd.Flags().MarkHidden(usual); err != nil {
		panic(err) // only for a flag that is not there
	}
	cmd.Flags().StringVar(&f.profile, "profile", "", "keep the browser's profile in `DIR` (default: a private "+
		"profile, removed at the end)")
	cmd.Flags().BoolVar(&f.isolated, "isolated", false, "work in a private copy of --profile, removed at the end")
	cmd.Flags().StringVar(&f.proxy, "proxy-server", "", "send the browser's requests through the proxy `URL`, for "+
		"example http://127.0.0.1:3128 or socks5://127.0.0.1:1080")
	cmd.Flags().Func(certificatesFlag, "open addresses whose certificate is not trusted: those of this machine and "+
		"private networks ("+policy.Local+", the value without one), and of `HOSTS` by name", func(hosts string) error {
		f.certificates = append(f.certificates, hosts)
		return nil
	})
	cmd.Flags().Lookup(certificatesFlag).NoOptDefVal = policy.Local
	complete(cmd, certificatesFlag, policy.Local)
	cmd.Flags().StringVar(&f.viewport, "viewport", "", "open pages with `SIZE` in pixels, for example 1280x720")
	cmd.Flags().Func("debugging-port", "open the debugging port `PORT` (without a value: a free one) in place of a "+
		"private pipe; every user of this machine can then drive the browser and read your files through it", f.setPort)
	cmd.Flags().Lookup("debugging-port").NoOptDefVal = "0"
	if err := cmd.MarkFlagDirname("profile"); err != nil {
		panic(err) // only for a flag that is not there
	}
	complete(cmd, "proxy-server")
	complete(cmd, "debugging-port")
	complete(cmd, "viewport", "1280x720", "1440x900", "1920x1080", "390x844")
	f.elsewhere(cmd, append(locals, "headed", "headless"))
	if cmd.Flags().Lookup("access") == nil { // a window has one for each browser
		cmd.Flags().StringVar(&f.access, "access", string(policy.ModeAsk), "in your own browser (--attach chrome) allow "+
			"everything (`MODE` full), only reading (view), or what a window's user allows (ask)")
		complete(cmd, "access", "full", "ask", "view")
		restrictsAccess(cmd, &f.access)
	}
}

// mode is what agents and clients may do in a browser, within the limit of projects.
func (f *browserFlags) mode(of *launch.OnDemand, limit policy.Mode) policy.Mode {
	if of != nil && of.Kind() == launch.Personal {
		return policy.Mode(f.access)
	}
	return policy.ModeFull.Within(limit)
}

func (f *browserFlags) setPort(text string) error {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return errors.New("want a port from 0 to 65535; 0 selects a free one")
	}
	f.debuggingPort = new(int(port))
	return nil
}

// complete offers the values of a flag. Without values it offers nothing.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values,
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// completeList offers the values of a flag that takes a list, without those that the
// list already contains.
func completeList(cmd *cobra.Command, flag string, values func() []cobra.Completion) {
	offer := func(_ *cobra.Command, _ []string, prefix string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
		list := prefix[:strings.LastIndexByte(prefix, ',')+1]
		for _, value := range values() {
			name, _, _ := strings.Cut(value, "\t")
			if !slices.Contains(strings.Split(list, ","), name) {
				offers = append(offers, list+value)
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // only for a flag that is not there
	}
}

// check rejects impossible values.
func (f *browserFlags) check() error {
	if f.browser != "" && !slices.Contains(chrome.Names, f.browser) {
		_, err := chrome.Find(chrome.FindOptions{Browser: f.browser})
		return wrongUse("%w", err)
	}
	if f.viewport != "" {
		if _, _, err := chrome.ParseSize(f.viewport); err != nil {
			return wrongUse("%w", err)
		}
	}
	if f.isolated && f.profile == "" {
		return wrongUse("--isolated copies --profile: add --profile DIR, or omit --isolated (without --profile the " +
			"profile is private anyway)")
	}
	if f.profile != "" {
		if info, err := os.Stat(f.profile); err == nil && !info.IsDir() {
			return wrongUse("--profile %s is a file: name a folder", f.profile)
		}
	}
	return nil
}

// find returns the browser that the flags choose.
func (f *browserFlags) find() (string, error) {
	return chrome.Find(chrome.FindOptions{Browser: f.browser, Executable: f.executable})
}

// headlessSize is the outer size of a headless browser: a laptop's.
const headlessSize = "1280x900"

// onDemand is the browser that is launched, or opened elsewhere, when it is needed. url is
// that of its first page.
func (f *browserFlags) onDemand(cmd *cobra.Command, url string, log *slog.Logger) (*launch.OnDemand, error) {
	source, err := f.choice(cmd).Source(log)
	if err != nil {
		return nil, wrongUse("%w", err)
	}
	if f.access != "" && !slices.Contains(policy.Modes, policy.Mode(f.access)) {
		return nil, wrongUse("--access %q: want one of full, ask, view", f.access)
	}
	if source != nil {
		return launch.New(source), nil
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if strings.Contains(f.proxy, "@") {
		return nil, wrongUse("--proxy-server: a password must not be on the command line, where every user of this " +
			"machine can read it, and the browser takes none there")
	}
	headless := !f.headed
	if cmd.Flags().Changed("headless") {
		headless = f.headless
	}
	o := chrome.Options{
		Headless: headless, UserDataDir: f.profile, Isolated: f.isolated, Proxy: f.proxy, Viewport: f.viewport,
		DebuggingPort: f.debuggingPort, URL: url, Logger: log,
	}
	if headless && o.Viewport == "" {
		o.Viewport = headlessSize
	}
	opener := &launch.Chrome{Find: f.find, Options: o, NoDisplayAdvice: f.noDisplay}
	accepted, err := policy.ParseAccepted("--"+certificatesFlag, f.certificates)
	if err != nil {
		return nil, wrongUse("%w", err)
	}
	if accepted != nil {
		opener.AcceptCertificate = accepted.Contains
	}
	return launch.New(opener), nil
}

// elsewhere adds the flags for a browser that runs elsewhere, which exclude those for one on
// this machine.
func (f *browserFlags) elsewhere(cmd *cobra.Command, locals []string) {
	f.locals = append(locals, "browser", "executable", "profile", "isolated", "proxy-server", "viewport",
		"debugging-port", certificatesFlag)
	cmd.Flags().StringVar(&f.provider.Grid, "grid", "", "use a browser of the Selenium Grid at `URL` (default: $"+
		provider.EnvGrid+")")
	cmd.Flags().StringVar(&f.provider.Capabilities, "grid-capability", "",
		"request the WebDriver capabilities in the JSON `FILE` of the grid (default: any chrome)")
	cmd.Flags().StringVar(&f.provider.Attach, "attach", "",
		"use your own running browser `WHICH` ("+strings.Join(userchrome.Names, ", ")+", or its profile folder), or the "+
			"one at a CDP URL (http, https, ws or wss; default: $"+provider.EnvAttach+")")
	cmd.Flags().StringVar(&f.provider.Headers, "headers", "",
		"send the headers in `FILE`, one \"Name: value\" a line, to the grid or the URL of --attach (default: those "+
			"in $"+provider.EnvHeaders+")")
	setByVariable(cmd, "grid", provider.EnvGrid)
	setByVariable(cmd, "attach", provider.EnvAttach)
	setByVariable(cmd, "headers", provider.EnvHeaders)
	complete(cmd, "grid", "http://localhost:4444")
	complete(cmd, "attach", append(slices.Clone(userchrome.Names), "http://127.0.0.1:9222")...)
	cmd.MarkFlagsMutuallyExclusive("attach", "grid")
	for _, name := range f.locals {
		cmd.MarkFlagsMutuallyExclusive("attach", name)
		cmd.MarkFlagsMutuallyExclusive("grid", name)
	}
}

// choice is which provider the flags and variables choose.
func (f *browserFlags) choice(cmd *cobra.Command) *provider.Choice {
	f.provider.Local = slices.ContainsFunc(f.locals, cmd.Flags().Changed)
	return &f.provider
}

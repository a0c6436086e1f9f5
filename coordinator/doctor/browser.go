package doctor

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/vscodeipc"
)

const browserGroup = "Browser"

var browserChecks = slices.Concat([]check{
	{"browser", browserGroup, "the browsers that can be launched", checkBrowser},
	{"own-chrome", browserGroup, "the browsers that the user works in", checkOwnChrome},
}, systemBrowserChecks)

func checkBrowser(ctx context.Context, x *examination) []Finding {
	choice, err := chrome.Find(chrome.FindOptions{})
	if err == nil && os.Getenv(chrome.EnvBrowser) != "" {
		err = chrome.Check(ctx, choice)
	}
	switch {
	case err == nil:
		text := "A private browser would be " + choice + "."
		if os.Getenv(chrome.EnvBrowser) != "" {
			text = "A private browser would be " + choice + ", by $" + chrome.EnvBrowser + "."
		}
		others := slices.DeleteFunc(chrome.Installed(), func(path string) bool { return path == choice })
		if len(others) > 0 {
			text += " Also installed: " + strings.Join(others, ", ") + "."
		}
		return []Finding{ok("%s", text)}
	case os.Getenv(chrome.EnvBrowser) != "":
		return []Finding{finding(Problem, "unset "+chrome.EnvBrowser+", or set it to the path of a browser", "%s.",
			sentence(err))}
	}
	verdict, text := Problem, "Chrome, Chromium, Edge or Brave is not installed: an agent without a window gets no "+
		"browser."
	if hasBrowser(x.windows()) {
		verdict, text = Warning, "Chrome, Chromium, Edge or Brave is not installed here. An agent works in the "+
			"windows' browsers only."
	}
	return []Finding{finding(verdict, chrome.InstallAdvice()+"; or set "+chrome.EnvBrowser+" to the path of a browser",
		"%s", text)}
}

// checkOwnChrome reports only what is so: nobody needs to use their own browser.
func checkOwnChrome(ctx context.Context, _ *examination) (found []Finding) {
	for _, own := range userchrome.Connections(ctx) {
		if own.Asking {
			found = append(found, finding(Warning, "press Allow in its window", "%s waits for your answer whether programs "+
				"may connect.", sentence(errors.New(own.Browser))))
		}
	}
	for _, text := range userchrome.Describe() {
		found = append(found, ok("%s", text))
	}
	if found == nil {
		found = append(found, ok("No browser of yours has a profile folder in a usual place."))
	}
	return found
}

func hasBrowser(windows []vscodeipc.Verdict) bool {
	return slices.ContainsFunc(windows, func(v vscodeipc.Verdict) bool {
		return v.Hello != nil && (v.Hello.State.Browser != nil || len(v.Hello.State.Pages) > 0)
	})
}

// sentence is an error as a sentence without its full stop.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// Package chrome finds a browser on this machine, launches it with a debugging pipe and
// ends it without leftovers.
//
//	found, err := chrome.Find(chrome.FindOptions{})
//	if err != nil { … }  // names what to install
//	browser, err := chrome.Launch(ctx, chrome.Options{Executable: found, Headless: true})
//	if err != nil { … }
//	defer browser.Close(context.Background())
//	endpoint := browser.URL() // ws://127.0.0.1:PORT/SECRET/devtools/browser/GUID
//
// It knows Chrome, Chromium, Edge and Brave. Without a UserDataDir the browser gets a
// private profile that is removed when it ends.
//
// The browser also ends, and its private profile is removed, when this process is killed.
// On Linux and macOS a small watchdog does that: a shell that waits for the end of a
// pipe. On Windows a job object ends the browser, and the profile stays. If the watchdog
// is killed too, the browser stays.
//
// CDP clients of this user reach the pipe at that URL (package multiplex); with a port instead
// (Options.DebuggingPort), every user reaches the browser.
//
// The package does not attach to a running browser, and ends only what it has started.
package chrome

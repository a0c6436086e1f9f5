// Package chrome finds a browser on this machine, launches it with a debugging pipe
// and ends it without leaving anything behind.
//
//	found, err := chrome.Find(chrome.FindOptions{})
//	if err != nil { … }  // a *NotFoundError says what to install
//	browser, err := chrome.Launch(ctx, chrome.Options{Executable: found.Path, Headless: true})
//	if err != nil { … }
//	defer browser.Close(context.Background())
//	endpoint := browser.URL() // ws://127.0.0.1:PORT/SECRET/devtools/browser/GUID
//
// Chrome, Chromium, Edge and Brave are known. Without a UserDataDir the browser
// gets a private profile that is removed when it ends.
//
// The browser also ends, and its private profile goes, when this process is
// killed: on Linux and macOS a small watchdog (a shell that waits for the end of
// a pipe) sees to it, on Windows a job object does, where only the profile
// stays. Somebody who kills the watchdog too keeps the browser.
//
// CDP clients of this user reach the pipe at that URL (package pipe); where
// Options.DebuggingPort asks for a port in its place, every user reaches the browser.
//
// The package does not attach to a browser that runs
// already, and ends nothing that it has not started.
package chrome

// Package launch launches a browser of our own when it is first needed, and ends it
// so that its profile is saved. How a browser's process is run is the business of
// coordinator/chrome.
package launch

// Package launch launches a browser of our own when it is first needed, and ends it so
// that its profile is saved. Package coordinator/chrome runs the browser's process.
package launch

//go:build !race

package cdptest

// RaceDetector is off.
const RaceDetector = false

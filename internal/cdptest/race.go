//go:build race

package cdptest

// RaceDetector reports whether the race detector is on: each byte takes many times as long.
const RaceDetector = true

//go:build !race

package cdpproxy_test

const raceDetector = false

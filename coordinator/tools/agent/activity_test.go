package agent

import (
	"slices"
	"testing"

	"browser-coordinator/vscodeipc"
)

// Calls that began in one millisecond have different times.
func TestRunningCallsHaveDifferentTimes(t *testing.T) {
	t.Parallel()
	var p presence
	var times []int64
	for range 3 {
		times = append(times, p.addRunning(vscodeipc.RunningCall{Time: 5, Act: "browser_click"}).Time)
	}
	if !slices.Equal(times, []int64{5, 6, 7}) {
		t.Errorf("the times are %v", times)
	}
}

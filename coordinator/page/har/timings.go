package har

import (
	"time"

	"browser-coordinator/coordinator/page/history"
)

// timings are the phases of a request in milliseconds; -1: it had none.
type timings struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"` // with TLS
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
	TLS     float64 `json:"ssl"`
}

// total is the whole time: TLS is a part of Connect.
func (t timings) total() (sum float64) {
	for _, phase := range []float64{t.Blocked, t.DNS, t.Connect, t.Send, t.Wait, t.Receive} {
		sum += max(phase, 0)
	}
	return sum
}

func timingsOf(r history.RequestDetails) timings {
	all := float64(r.Duration) / float64(time.Millisecond)
	t := r.Timing
	if t == nil {
		return timings{Blocked: -1, DNS: -1, Connect: -1, TLS: -1, Wait: all}
	}
	phase := func(start, end float64) float64 {
		if start < 0 || end < start {
			return -1
		}
		return end - start
	}
	queued := max((t.RequestTime-r.Began)*1000, 0)
	out := timings{
		Blocked: queued, DNS: phase(t.DNSStart, t.DNSEnd), Connect: phase(t.ConnectStart, t.ConnectEnd),
		TLS: phase(t.SslStart, t.SslEnd), Send: max(phase(t.SendStart, t.SendEnd), 0),
		Wait: max(phase(t.SendEnd, t.ReceiveHeadersEnd), 0),
	}
	for _, first := range []float64{t.DNSStart, t.ConnectStart, t.SendStart} {
		if first >= 0 {
			out.Blocked += first
			break
		}
	}
	out.Receive = max(all-queued-t.ReceiveHeadersEnd, 0)
	return out
}

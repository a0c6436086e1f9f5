// The clients in Go that the tests run. A module of its own, so that the
// product depends on none of them.
module browser-coordinator/internal/conformance

go 1.26.0

ignore ./node_modules

require (
	github.com/chromedp/chromedp v0.22.1
	github.com/go-rod/rod v0.116.2
)

require (
	github.com/chromedp/cdproto v0.159.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/ysmood/fetchup v0.2.3 // indirect
	github.com/ysmood/goob v0.4.0 // indirect
	github.com/ysmood/got v0.40.0 // indirect
	github.com/ysmood/gson v0.7.3 // indirect
	github.com/ysmood/leakless v0.9.0 // indirect
)

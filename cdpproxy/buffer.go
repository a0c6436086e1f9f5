package cdpproxy

import "sync"

// Reads take a small buffer unless the last one was filled: then a larger one,
// which doubles the throughput of big replies, and then the largest,
// which adds a quarter (specs/benchmarks.md).
var bufferSizes = [...]int{64 << 10, 1 << 20, 4 << 20}

// buffer is pooled: a connection holds one only while there is data in it.
type buffer struct {
	b    []byte // of full length
	pool *sync.Pool
}

var buffers [len(bufferSizes)]sync.Pool

func init() {
	for i, size := range bufferSizes {
		buffers[i].New = func() any { return &buffer{make([]byte, size), &buffers[i]} }
	}
}

func (b *buffer) free() { b.pool.Put(b) }

// bufferSize is which of the sizes a leg reads into next.
type bufferSize int

func (s bufferSize) take() *buffer { return buffers[s].Get().(*buffer) }

// after returns the size for what follows a read of n bytes.
func (s bufferSize) after(n int) bufferSize {
	switch {
	case n == bufferSizes[s] && int(s) < len(bufferSizes)-1:
		return s + 1
	case s > 0 && n <= bufferSizes[s-1]:
		return s - 1
	}
	return s
}

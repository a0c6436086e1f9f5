package cdpproxy

import "sync"

// A read takes a small buffer first. After a read that filled its buffer the next
// one is larger, which doubles the throughput of large responses. The largest adds
// a quarter (specs/benchmarks.md).
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

// bufferSize is the index of the buffer size for the next read of a connection.
type bufferSize int

func (s bufferSize) take() *buffer { return buffers[s].Get().(*buffer) }

// after returns the size for the read that follows one of n bytes.
func (s bufferSize) after(n int) bufferSize {
	switch {
	case n == bufferSizes[s] && int(s) < len(bufferSizes)-1:
		return s + 1
	case s > 0 && n <= bufferSizes[s-1]:
		return s - 1
	}
	return s
}

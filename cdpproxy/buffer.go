package cdpproxy

import "sync"

// Reads take a small buffer unless the last one was filled: then a large one,
// which doubles the throughput of big replies (facts 8).
const (
	smallBuffer = 64 << 10
	largeBuffer = 1 << 20
)

// buffer is pooled: a connection holds one only while there is data in it.
type buffer struct {
	b    []byte // of full length
	pool *sync.Pool
}

var smallBuffers, largeBuffers sync.Pool

func init() {
	smallBuffers.New = func() any { return &buffer{make([]byte, smallBuffer), &smallBuffers} }
	largeBuffers.New = func() any { return &buffer{make([]byte, largeBuffer), &largeBuffers} }
}

func takeBuffer(large bool) *buffer {
	if large {
		return largeBuffers.Get().(*buffer)
	}
	return smallBuffers.Get().(*buffer)
}

func (b *buffer) free() { b.pool.Put(b) }

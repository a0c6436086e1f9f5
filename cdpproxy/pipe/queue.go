package pipe

import "sync"

// queue holds the messages for a client in order. put never blocks, so that the
// pipe is always drained.
type queue struct {
	limit int // bytes

	mu       sync.Mutex // guards the fields that follow
	more     sync.Cond
	waiting  [][]byte
	size     int // bytes in waiting and in the batch that is being written
	batch    int // bytes of that batch
	finished bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.more.L = &q.mu
	return q
}

// put reports whether there was room. An empty queue takes a single message of any
// size: it is in memory already.
func (q *queue) put(message []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.finished {
		return true // the connection is ending
	}
	if q.size > 0 && q.size+len(message) > q.limit {
		return false
	}
	q.waiting = append(q.waiting, message)
	q.size += len(message)
	q.more.Signal()
	return true
}

// take waits for messages and takes them all, into the slice of the last batch. It
// returns nil once the queue is finished and empty.
func (q *queue) take(last [][]byte) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size -= q.batch
	q.batch = 0
	for len(q.waiting) == 0 {
		if q.finished {
			return nil
		}
		q.more.Wait()
	}
	clear(last)
	taken := q.waiting
	q.waiting, q.batch = last[:0], q.size
	return taken
}

// finish makes take end once the queue is empty; drop empties it at once.
func (q *queue) finish(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	if drop {
		q.waiting = nil
	}
	q.more.Signal()
}

package pipe

import "sync"

// queue holds the messages that wait for a client, in their order. Putting never
// blocks, so that the pipe is always drained.
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

// put reports whether there was room. A single message of any size finds some: it
// is in memory already.
func (q *queue) put(message []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.finished {
		return true // nobody waits for it any longer
	}
	if q.size > 0 && q.size+len(message) > q.limit {
		return false
	}
	q.waiting = append(q.waiting, message)
	q.size += len(message)
	q.more.Signal()
	return true
}

// take waits for messages and takes them all, into the slice of the last batch; nil
// once the queue is finished and empty.
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

// finish has take end once what is queued has been taken; drop forgets that too.
func (q *queue) finish(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	if drop {
		q.waiting = nil
	}
	q.more.Signal()
}

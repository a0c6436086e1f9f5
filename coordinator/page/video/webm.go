package video

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"time"
)

// The browser's encoder writes WebM as a stream: without its length, and without chapters. Both
// are put where the information about the file was.

// The ids of elements (RFC 8794, RFC 9559).
const (
	idHeader     = 0x1A45DFA3
	idSegment    = 0x18538067
	idInfo       = 0x1549A966
	idScale      = 0x2AD7B1
	idDuration   = 0x4489
	idMuxer      = 0x4D80
	idWriter     = 0x5741
	idVoid       = 0xEC
	idChapters   = 0x1043A770
	idEdition    = 0x45B9
	idAtom       = 0xB6
	idAtomUID    = 0x73C4
	idAtomStart  = 0x91
	idDisplay    = 0x80
	idTitle      = 0x85
	idLanguage   = 0x437C
	nanosecondMS = 1_000_000
)

// reserved is the place for the length and the chapters, in bytes.
const reserved = 64 << 10

// element is an element with its content. A size takes eight bytes.
func element(id uint64, content ...[]byte) []byte {
	var out bytes.Buffer
	var encoded [8]byte
	binary.BigEndian.PutUint64(encoded[:], id)
	out.Write(bytes.TrimLeft(encoded[:], "\x00"))
	inside := bytes.Join(content, nil)
	binary.BigEndian.PutUint64(encoded[:], uint64(len(inside))|1<<56)
	out.Write(encoded[:])
	out.Write(inside)
	return out.Bytes()
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// file is the file of a video, as it is written.
type file struct {
	to    *os.File
	start []byte // until the information is complete
	info  int64  // where it is; 0: not yet
}

// Write implements [io.Writer] for what the encoder makes.
func (f *file) Write(data []byte) (int, error) {
	if f.info != 0 {
		return f.to.Write(data)
	}
	f.start = append(f.start, data...)
	before, after, err := cutInfo(f.start)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return len(data), nil // there is more to come
	}
	if err != nil {
		return 0, err
	}
	f.info = int64(len(before))
	f.start = nil
	_, err = f.to.Write(bytes.Join([][]byte{before, f.about(0, nil), after}, nil))
	return len(data), err
}

// about is the information and the chapters, in as many bytes as are reserved. Chapters that do
// not fit are left out.
func (f *file) about(length time.Duration, chapters []chapter) []byte {
	info := element(idInfo, element(idScale, number(nanosecondMS)),
		element(idDuration, number(math.Float64bits(float64(length)/float64(time.Millisecond)))),
		element(idMuxer, []byte("Chrome")), element(idWriter, []byte("Browser Coordinator")))
	var atoms [][]byte
	size := len(info)
	for n, c := range chapters {
		atom := element(idAtom, element(idAtomUID, number(uint64(n+1))),
			element(idAtomStart, number(uint64(max(c.at, 0)))),
			element(idDisplay, element(idTitle, []byte(c.title)), element(idLanguage, []byte("und"))))
		if size += len(atom); size > reserved-64 {
			break
		}
		atoms = append(atoms, atom)
	}
	out := info
	if len(atoms) > 0 {
		out = append(out, element(idChapters, element(idEdition, atoms...))...)
	}
	return append(out, element(idVoid, make([]byte, reserved-len(out)-9))...)
}

// finish writes the length and the chapters.
func (f *file) finish(length time.Duration, chapters []chapter) error {
	if f.info == 0 {
		return errors.New("the video is empty: the browser has drawn nothing of the page")
	}
	_, err := f.to.WriteAt(f.about(length, chapters), f.info)
	return err
}

var errFormat = errors.New("the browser's encoder has made something else than WebM")

// cutInfo separates what is before and after the information. [io.ErrUnexpectedEOF] means that
// there is not all of it yet.
func cutInfo(data []byte) (before, after []byte, err error) {
	at := 0
	for at < len(data) {
		id, n := variable(data[at:], false)
		size, m := variable(data[at+min(n, len(data)-at):], true)
		if n == 0 || m == 0 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		content := at + n + m
		switch id {
		case idSegment: // what follows is in it
			at = content
			continue
		case idHeader, idInfo:
		default:
			return nil, nil, errFormat
		}
		if size > uint64(len(data)-content) {
			return nil, nil, io.ErrUnexpectedEOF
		}
		end := content + int(size)
		if id == idInfo {
			return data[:at], data[end:], nil
		}
		at = end
	}
	return nil, nil, io.ErrUnexpectedEOF
}

// variable reads a number of variable length, and how many bytes it has; 0: it is cut off.
// value: without the mark of its length.
func variable(data []byte, value bool) (number uint64, length int) {
	if len(data) == 0 || data[0] == 0 {
		return 0, 0
	}
	length = 1
	for mark := byte(0x80); data[0]&mark == 0; mark >>= 1 {
		length++
	}
	if len(data) < length {
		return 0, 0
	}
	for _, b := range data[:length] {
		number = number<<8 | uint64(b)
	}
	if value {
		number &^= 1 << (7 * length)
	}
	return number, length
}

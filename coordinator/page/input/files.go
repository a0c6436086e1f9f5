package input

import (
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// maxSent bounds the files that are sent to a browser on another machine, in bytes
// together: they are one message.
const maxSent = 50 << 20

// setFiles gives a file input its files. A browser on another machine gets their contents.
func (i *Input) setFiles(ctx context.Context, e *frame.Element, files []string) error {
	i.sentCount.Add(1)
	if len(files) == 0 { // the browser's command would leave the files there are
		return sendFiles(ctx, e, files)
	}
	reads, err := i.readsFiles(ctx, e, files)
	if err != nil {
		return err
	}
	if !reads {
		return sendFiles(ctx, e, files)
	}
	_, err = protocol.Call(ctx, e.Session, dom.SetFileInputFiles, dom.SetFileInputFilesParams{
		Files: files, ObjectID: e.Handle,
	})
	if cdp.Refused(err) {
		return &frame.TargetError{Target: e.Target, Reason: "takes no files: " + err.Error()}
	}
	return err
}

// readsFiles reports whether the browser finds these files at their paths. It takes any
// path, and a file that it does not find is an empty one for the page. So an input that is
// in no document gets them first.
func (i *Input) readsFiles(ctx context.Context, e *frame.Element, files []string) (bool, error) {
	if i.sameFiles.Load() {
		return true, nil
	}
	made, err := protocol.Call(ctx, e.Session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: frame.Call("newFileInput"), ObjectID: e.Handle,
	})
	if err != nil {
		return false, err
	}
	unseen := &frame.Element{Target: e.Target, Session: e.Session, Handle: made.Result.ObjectID}
	defer unseen.Release(ctx)
	_, err = protocol.Call(ctx, e.Session, dom.SetFileInputFiles, dom.SetFileInputFilesParams{
		Files: files, ObjectID: unseen.Handle,
	})
	if cdp.Refused(err) {
		return true, nil // and refuses it for the target too
	}
	var sizes []int64
	if err == nil {
		err = unseen.Call(ctx, "fileSizes", nil, &sizes)
	}
	if err != nil || len(sizes) != len(files) {
		return false, err
	}
	for n, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return false, err
		}
		if !info.IsDir() && info.Size() != sizes[n] {
			return false, nil
		}
	}
	i.sameFiles.Store(true)
	return true, nil
}

// sentFile is a file for a browser that cannot read it.
type sentFile struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Modified int64  `json:"modified"` // ms since 1970
	Contents string `json:"contents"` // base64
}

func sendFiles(ctx context.Context, e *frame.Element, files []string) error {
	var sent []sentFile
	rest := int64(maxSent)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if rest -= info.Size(); !info.Mode().IsRegular() || rest < 0 {
			return &frame.TargetError{Target: e.Target, Reason: fmt.Sprintf("is in a browser on another machine, "+
				"which gets files of together %d MB, and no folders", maxSent>>20)}
		}
		contents, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(file)), ";")
		sent = append(sent, sentFile{
			Name: filepath.Base(file), Type: kind,
			Modified: info.ModTime().UnixMilli(), Contents: base64.StdEncoding.EncodeToString(contents),
		})
	}
	return e.CallAsUser(ctx, "takeFiles", sent, nil)
}

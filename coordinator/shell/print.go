package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/internal/fspath"
)

// Printer prints results.
type Printer struct {
	Out, Err io.Writer
	// JSON prints an object for each result.
	JSON bool
	// All prints a result to its end, however long it is.
	All bool
	// File is where the result goes; empty: to Out.
	File string
	// SaveAs is where the file that the tool has saved goes; empty: it stays.
	SaveAs string
	// Folder returns the workspace of the session, and its folder for files, if it has another
	// one than the default. It is called only when there is a file.
	Folder func() (workspace, dir string, err error)
}

// printed is a result for programs.
type printed struct {
	Text    string         `json:"text"`
	Data    any            `json:"data,omitempty"`
	Files   []string       `json:"files,omitempty"`
	Failure answer.Failure `json:"failure,omitempty"`
}

// longest bounds what is printed of a result, in bytes.
const longest = 4000

// Print prints the result of a call, and returns why the call failed; empty: it did not.
func (p *Printer) Print(r *mcp.CallToolResult) (answer.Failure, error) {
	text, pictures := contentOf(r)
	whole, isCut := r.Meta[tools.Whole].(string)
	if isCut && (p.All || p.JSON || p.File != "") {
		text, isCut = whole, false
	}
	out := printed{Text: text, Data: r.StructuredContent, Failure: failureOf(r), Files: filesOf(r)}
	if p.SaveAs != "" && len(out.Files) > 0 && !r.IsError {
		saved := out.Files[0] // downloads come after it
		path := p.saveAs(saved)
		if err := move(saved, path); err != nil {
			return out.Failure, err
		}
		out.Files[0], out.Text = path, strings.ReplaceAll(text, saved, path)
	}
	named := len(out.Files) // in the text
	for _, picture := range pictures {
		path, err := p.savePicture(picture, len(pictures) == 1)
		if err != nil {
			return out.Failure, err
		}
		out.Files = append(out.Files, path)
	}
	if p.File != "" && len(pictures) != 1 && !r.IsError {
		if err := write(absolute(p.File), strings.NewReader(text+"\n")); err != nil {
			return out.Failure, err
		}
		out.Files = append(out.Files, absolute(p.File))
		out.Text = ""
	}
	if p.JSON {
		return out.Failure, terminal.JSON(p.Out, out)
	}
	if !isCut {
		whole = out.Text
	}
	shown := p.shorten(out.Text, whole)
	to := p.Out
	if r.IsError {
		to = p.Err
	}
	if out.Text == "" {
		named = 0
	}
	for _, file := range out.Files[named:] {
		shown = strings.TrimPrefix(shown+"\nSaved "+file, "\n")
	}
	if terminal.Is(to) {
		shown = terminal.Printable(shown) // a page could move the cursor
	}
	_, err := io.WriteString(to, shown+"\n")
	return out.Failure, err
}

// contentOf are the text and the pictures of a result.
func contentOf(r *mcp.CallToolResult) (string, []*mcp.ImageContent) {
	var texts []string
	var pictures []*mcp.ImageContent
	for _, content := range r.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			texts = append(texts, content.Text)
		case *mcp.ImageContent:
			pictures = append(pictures, content)
		}
	}
	return strings.Join(texts, "\n"), pictures
}

// failureOf is the kind of failure of a result; empty: none.
func failureOf(r *mcp.CallToolResult) answer.Failure {
	kind, _ := r.Meta[tools.Failure].(string)
	if kind == "" && r.IsError {
		return answer.Failed
	}
	return answer.Failure(kind)
}

// filesOf are the paths of the files that the tool has saved.
func filesOf(r *mcp.CallToolResult) (paths []string) {
	all, _ := r.Meta[tools.Files].([]any)
	for _, path := range all {
		if path, is := path.(string); is {
			paths = append(paths, path)
		}
	}
	return paths
}

// shorten is the beginning of a long text, and where the whole is. The text may be a part of it
// already.
func (p *Printer) shorten(text, whole string) string {
	end := "\n"
	switch long := !p.All && len(text) > longest; {
	case !long && text == whole:
		return text
	case long:
		at := strings.LastIndexByte(text[:longest], '\n')
		if at < longest/2 { // one long line
			at = longest
			for at > 0 && !utf8.RuneStart(text[at]) {
				at--
			}
		}
		text, end = text[:at], fmt.Sprintf("\n… %d more characters. ", utf8.RuneCountInString(text[at:]))
	}
	path, err := p.save("answer", output.Text, []byte(whole+"\n"))
	if err != nil { // what was asked is done
		return text + end + "All of it: --all (" + err.Error() + ")"
	}
	return text + end + "All of it: " + path + " (or --all)"
}

// savePicture saves a picture of a result.
func (p *Printer) savePicture(picture *mcp.ImageContent, only bool) (path string, err error) {
	if p.File != "" && only {
		return absolute(p.File), write(absolute(p.File), bytes.NewReader(picture.Data))
	}
	kind := output.PNG
	switch picture.MIMEType {
	case "image/jpeg":
		kind = output.JPEG
	case "image/webp":
		kind = output.WebP
	}
	return p.save("page", kind, picture.Data)
}

// save saves something in the folder for files.
func (p *Printer) save(name string, kind output.Kind, content []byte) (path string, err error) {
	workspace, dir, err := p.Folder()
	if err != nil {
		return "", err
	}
	file, err := output.In(workspace, dir).File(agent.DatedName(name, kind), kind)
	if err != nil {
		return "", err
	}
	return file.Save(content)
}

// saveAs is where a saved file goes. It gets the extension that the tool has added.
func (p *Printer) saveAs(saved string) string {
	name := filepath.Base(saved)
	switch own := filepath.Ext(p.SaveAs); {
	case own == "" && strings.Contains(name, "."):
		return p.SaveAs + name[strings.IndexByte(name, '.'):]
	case own != filepath.Ext(name):
		return p.SaveAs + filepath.Ext(name)
	}
	return p.SaveAs
}

// move moves a file. The two may be on different disks.
func move(from, to string) error {
	if from == to {
		return nil
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	err = write(to, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Remove(from)
}

// write writes a file, which it replaces: completely or not at all, and for this user alone. What
// is no regular file, such as a terminal or a link, is written to.
func write(path string, content io.Reader) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return fspath.Write(path, content)
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

package tools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
)

type pdfIn struct {
	Filename string `json:"filename,omitempty"`
	inWindow
}

func (s *Server) addPDFTools() {
	add(s, &mcp.Tool{Name: "browser_pdf_save", Description: "Save the page as PDF", Annotations: saves("Save as PDF")}, savePDF)
}

func savePDF(ctx context.Context, a *agent, in pdfIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "page", output.PDF)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	data, err := p.PDF(ctx)
	if err != nil {
		return nil, err
	}
	path, err := file.Save(data)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Saved %s (%d bytes).", path, len(data))
	return out, nil
}

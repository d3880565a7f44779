package server

import (
	"encoding/base64"
	"encoding/json"

	"github.com/drawbridge-mcp/drawbridge/core/jsonrpc"
	"github.com/drawbridge-mcp/drawbridge/core/mcp"
)

// ToolResult is a CallToolResult.
type ToolResult struct {
	Content    []Content `json:"content"`
	Structured any       `json:"structuredContent,omitempty"`
	IsError    bool      `json:"isError,omitempty"`
}

// Content is one content block of any kind.
type Content struct {
	Type        string          `json:"type"`
	Text        string          `json:"text,omitempty"`
	Data        string          `json:"data,omitempty"` // base64
	MIMEType    string          `json:"mimeType,omitempty"`
	Resource    *Contents       `json:"resource,omitempty"`
	URI         string          `json:"uri,omitempty"`
	Name        string          `json:"name,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// MarshalJSON keeps the text of a text block even when it is empty.
func (c Content) MarshalJSON() ([]byte, error) {
	type plain Content
	if c.Type == "text" {
		return json.Marshal(struct {
			plain
			Text string `json:"text"`
		}{plain(c), c.Text})
	}
	return json.Marshal(plain(c))
}

// Contents is a resource's content: Text, or Blob as base64.
type Contents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text"`
	Blob     string `json:"blob,omitempty"`
}

// MarshalJSON writes either text or blob.
func (c Contents) MarshalJSON() ([]byte, error) {
	type plain Contents
	if c.Blob != "" {
		return json.Marshal(struct {
			plain
			Text string `json:"text,omitempty"`
		}{plain: plain(c)})
	}
	return json.Marshal(plain(c))
}

// ReadResult is a ReadResourceResult.
type ReadResult struct {
	Contents []Contents `json:"contents"`
}

// PromptResult is a GetPromptResult.
type PromptResult struct {
	Description string    `json:"description,omitempty"`
	Messages    []Message `json:"messages"`
}

// Message is one message of a prompt.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Text returns a text block.
func Text(s string) Content { return Content{Type: "text", Text: s} }

// Image returns an image block.
func Image(data []byte, mimeType string) Content {
	return Content{Type: "image", Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Audio returns an audio block.
func Audio(data []byte, mimeType string) Content {
	return Content{Type: "audio", Data: base64.StdEncoding.EncodeToString(data), MIMEType: mimeType}
}

// Embedded returns a block with a resource's content in it.
func Embedded(c Contents) Content { return Content{Type: "resource", Resource: &c} }

// Failed returns an isError result, which a model can read and act on.
func Failed(text string) ToolResult {
	return ToolResult{Content: []Content{Text(text)}, IsError: true}
}

// cacheable lists the methods whose complete results carry caching hints
// (server/utilities/caching "Cacheable Results").
var cacheable = map[string]bool{
	mcp.MethodDiscover: true, mcp.MethodToolsList: true, mcp.MethodPromptsList: true,
	mcp.MethodResourcesList: true, mcp.MethodResourcesTemplatesList: true, mcp.MethodResourcesRead: true,
}

// modernResult adds what every modern result has and the handler left out:
// resultType, the server's name in _meta, caching hints. What is there stays.
func (s *Server) modernResult(method string, result json.RawMessage) (json.RawMessage, error) {
	members, err := jsonrpc.Members(result)
	if err != nil {
		return nil, err
	}
	have := map[string]json.RawMessage{}
	for _, m := range members {
		have[m.Name] = m.Value
	}
	b := make([]byte, 0, len(result)+len(s.info)+160)
	b = append(b, `{"resultType":`...)
	kind, ok := have["resultType"]
	if !ok {
		kind = json.RawMessage(`"complete"`)
	}
	b = append(b, kind...)
	meta := have["_meta"]
	if jsonrpc.Get(meta, mcp.MetaServerInfo) == nil {
		if with, err := jsonrpc.With(meta, mcp.MetaServerInfo, s.info); err == nil {
			meta = with
		}
	}
	b = append(append(b, `,"_meta":`...), meta...)
	if cacheable[method] && string(kind) == `"complete"` {
		if have["ttlMs"] == nil {
			b = append(append(b, `,"ttlMs":`...), s.ttl(method)...)
		}
		if have["cacheScope"] == nil {
			b = append(b, `,"cacheScope":"private"`...)
		}
	}
	for _, m := range members {
		if m.Name != "resultType" && m.Name != "_meta" {
			b = append(append(append(b, ','), quote(m.Name)...), ':')
			b = append(b, m.Value...)
		}
	}
	return append(b, '}'), nil
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string always marshals
	return b
}

package mcp

import "encoding/json"

// ElicitParams is what we read of an elicitation request, of either mode.
type ElicitParams struct {
	// Mode is "form" or "url"; absent means form.
	Mode            string          `json:"mode"`
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema"`
	URL             string          `json:"url"`
	// ElicitationID identifies a url elicitation in revision 2025-11-25.
	ElicitationID string `json:"elicitationId"`
}

// Action is a person's answer to an elicitation. Decline is an explicit choice,
// cancel a dismissal; nothing is ever answered by a machine (case 62).
type Action string

// The three actions (client/elicitation "Response Actions").
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// ElicitResult is the answer. Content is set only for an accepted form.
type ElicitResult struct {
	Action  Action          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

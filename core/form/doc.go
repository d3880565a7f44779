// Package form turns a JSON Schema into fields that a person can fill in, checks
// what was filled in, and writes it as JSON.
//
// It is a package of its own, outside the house table, because the elicitation
// window, Try, and later the gateway (which fills in defaults and checks answers)
// need the same reading of a schema, and none of them may import another. It is
// pure: bytes in, values out.
//
// # What is understood
//
// An object with properties: strings with length, pattern and the formats email,
// uri, date and date-time; numbers and integers with bounds; booleans; choices
// in every shape that is in use (enum, enum with enumNames, oneOf or anyOf of
// const and title, and arrays of these); local references; "or null". Any other
// property becomes a field for JSON. A schema that is none of this makes a form
// with Raw set, where the person writes the whole object: it never hides the tool
// or the question (field cases 52 and 60).
//
// # Left out or empty
//
// A field that was left empty is left out of the JSON. The empty string is sent
// only where it came from the schema's default or from JSON and nobody changed
// it; the same goes for an array of no choices. A required field may not be left
// out, with one exception: a required choice of several with nothing picked is
// the empty array, if the schema lets it be.
//
// # Numbers
//
// Numbers travel as the text that was typed, so 9007199254740993 stays what it is.
package form

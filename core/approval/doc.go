// Package approval decides what a tool call may do: by the person's rules and
// standing grants where they say so, by the person where they do not.
//
// # Deciding
//
// A [Book] holds the policy file's rules, the grants a person gave in the window,
// and the definitions they were given for. [Book.Decide] is a pure look-up in the
// order of rule A1: deny rules, a changed definition, grants, then asking. What
// another program wrote into the policy file may tighten at once and loosens only
// after the person confirmed it (A9).
//
// # Asking
//
// A [Desk] holds the calls that wait for a person, oldest first and fair between
// servers. Each is answered exactly once: by the person, by a grant given
// meanwhile, by its time limit, or by its caller's going away. A call whose caller
// went leaves an ask behind for a while, so that allowing it lets one identical
// retry through (A5).
//
// # Pins
//
// A grant is for a definition, not for a name: the [Pin] covers all that a person
// could judge a tool by, and the configuration of its server (A3). A change voids
// the grant and is shown as a diff.
//
// The package knows neither windows nor connections. It is safe for concurrent use.
package approval

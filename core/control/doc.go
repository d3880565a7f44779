// Package control is the local socket by which programs of the same person talk
// to the running instance: `drawbridge status`, a second start that raises the
// first one's window, and a note that a secret was set.
//
// It is not in the house's table: main needs it on both sides of the socket, and
// it belongs to no floor. It speaks HTTP over a Unix socket, since net/http is a
// protocol with bounds and time-outs that need not be written again. The socket
// lies in a folder that only its owner may enter, which is what authenticates.
package control

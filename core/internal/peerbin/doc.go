// Package peerbin finds the foreign implementations that tests run against: the
// programs of the module core/internal/peers and the npm packages in its folder
// npm. It is a package for tests: nothing that ships imports it.
//
//	path := peerbin.Go(t, "gosdk-server")            // a program over stdio
//	url := peerbin.ServeGo(t, "gosdk-server", "-stateful")
//	cmd := peerbin.Filesystem(t, t.TempDir())        // cmd.Path, cmd.Args
//	url := peerbin.ServeEverything(t)
//
// The Go programs lie in the folder $DRAWBRIDGE_PEERS, or are built into
// build/peers when that is not set. The npm packages are installed by
// `make peers`. Where a peer is missing the test is skipped, or, with
// DRAWBRIDGE_REQUIRE_PEERS=1 (`make test` sets it), failed.
package peerbin

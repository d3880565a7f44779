package transport

import (
	"net/netip"
	"testing"
)

// P4, acceptance 33, reference 3.2.
func TestReach(t *testing.T) {
	for want, addrs := range map[reach][]string{
		public: {
			"8.8.8.8", "1.1.1.1", "172.32.0.1", "172.15.255.255", "100.63.255.255", "100.128.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.255",
			"2606:4700::1111", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:0808:0808::1", "::8.8.8.8", "2400::1",
		},
		loopback: {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"},
		private: {
			"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255", "fc00::1", "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "::ffff:10.0.0.1",
		},
		special: {
			"0.0.0.0", "0.1.2.3", "169.254.169.254", "192.0.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", "224.0.0.1",
			"240.0.0.1", "255.255.255.255", "::", "100::1", "2001::1", "2001:2::1", "2001:db8::1", "ff02::1", "2002:7f00:0001::1", "2002:0a00:0001::",
			"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::169.254.169.254", "::127.0.0.1", "::ffff:0:127.0.0.1", "::ffff:169.254.169.254",
		},
	} {
		for _, s := range addrs {
			if got := reachOf(netip.MustParseAddr(s)); got != want {
				t.Errorf("%s is %d, want %d", s, got, want)
			}
		}
	}
	if reachOf(netip.Addr{}) != special {
		t.Error("no address is admitted")
	}
}

// P4: who may dial what.
func TestAdmit(t *testing.T) {
	workspace, user, optIn := AddressPolicy{Workspace: true}, AddressPolicy{}, AddressPolicy{AllowHTTP: true}
	for name, c := range map[string]struct {
		policy AddressPolicy
		secure bool
		addrs  []string
		want   int // how many are left; 0 is a refusal
	}{
		"workspace, public":              {workspace, true, []string{"8.8.8.8", "2606:4700::1111"}, 2},
		"workspace, private":             {workspace, true, []string{"10.0.0.1"}, 0},
		"workspace, loopback":            {workspace, true, []string{"127.0.0.1"}, 0},
		"workspace, one bad":             {workspace, true, []string{"8.8.8.8", "10.0.0.1"}, 0},
		"workspace, opt-in is ignored":   {AddressPolicy{Workspace: true, AllowHTTP: true}, true, []string{"10.0.0.1"}, 0},
		"user, https anywhere":           {user, true, []string{"8.8.8.8", "10.0.0.1", "169.254.169.254"}, 3},
		"user, http to loopback":         {user, false, []string{"127.0.0.1", "::1"}, 2},
		"user, http to a home network":   {user, false, []string{"192.168.0.9"}, 1},
		"user, http to both":             {user, false, []string{"192.168.0.9", "2606:4700::1111"}, 1},
		"user, http to the internet":     {user, false, []string{"8.8.8.8"}, 0},
		"user, http to metadata":         {user, false, []string{"169.254.169.254"}, 0},
		"user, http with opt-in":         {optIn, false, []string{"8.8.8.8"}, 1},
		"user, nothing":                  {user, false, nil, 0},
		"user, http to embedded private": {user, false, []string{"64:ff9b::10.0.0.1"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var addrs []netip.Addr
			for _, s := range c.addrs {
				addrs = append(addrs, netip.MustParseAddr(s))
			}
			got, err := c.policy.admit(c.secure, addrs)
			if len(got) != c.want || (err != nil) != (c.want == 0) {
				t.Errorf("got %v, %v", got, err)
			}
			if err != nil && err.Error() != "blocked (address)" {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Reference 3.2: at most eight, each once, families in turn.
func TestInterleave(t *testing.T) {
	var addrs []netip.Addr
	for _, s := range []string{"::1", "::1", "::2", "10.0.0.1", "::3", "10.0.0.2", "10.0.0.1", "::4", "::5", "::6", "::7"} {
		addrs = append(addrs, netip.MustParseAddr(s))
	}
	var got string
	for _, a := range interleave(addrs, 9) {
		got += a.Addr().String() + " "
	}
	if want := "10.0.0.1 ::1 10.0.0.2 ::2 ::3 ::4 ::5 ::6 "; got != want {
		t.Errorf("got %s", got)
	}
}

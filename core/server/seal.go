package server

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// sealer protects what travels through a client as requestState: nobody else can
// read or make one, and it holds only for the client and request it was given for
// and for a time (S8; basic/patterns/mrtr "Server Requirements" 4 and 5). Its key
// lives as long as the server.
//
// A state is redeemed once. Redeemed ones are known by their nonces until they
// expire; when there are too many, the oldest issues count as redeemed, known or not.
type sealer struct {
	aead cipher.AEAD
	ttl  time.Duration

	mu       sync.Mutex
	redeemed map[string]int64 // nonce: when it expires, Unix time in ms
	floor    int64            // what expires no later is no longer taken
	swept    int64
}

// maxRedeemed bounds the nonces that are kept.
const maxRedeemed = 1 << 16

var errState = errors.New("the state is not valid")

func newSealer(ttl time.Duration) *sealer {
	key := make([]byte, 32)
	_, _ = rand.Read(key)           // never fails
	block, _ := aes.NewCipher(key)  // 32 bytes are a key
	aead, _ := cipher.NewGCM(block) // the standard sizes are valid
	return &sealer{aead: aead, ttl: ttl, redeemed: map[string]int64{}}
}

func (s *sealer) seal(plain, binding []byte) string {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+8+len(plain)+s.aead.Overhead())
	_, _ = rand.Read(nonce)
	text := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(s.ttl).UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, append(text, plain...), binding))
}

// ticket is what of an opened state is redeemed.
type ticket struct {
	nonce   string
	expires int64 // Unix time in ms
}

// open reads a state. It does not redeem it: see [sealer.redeem].
func (s *sealer) open(state string, binding []byte) ([]byte, ticket, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(state)
	n := s.aead.NonceSize()
	if err != nil || len(b) < n {
		return nil, ticket{}, errState
	}
	text, err := s.aead.Open(nil, b[:n], b[n:], binding)
	if err != nil || len(text) < 8 {
		return nil, ticket{}, errState
	}
	t := ticket{string(b[:n]), int64(binary.BigEndian.Uint64(text))}
	if time.Now().UnixMilli() > t.expires {
		return nil, ticket{}, errState
	}
	return text[8:], t, nil
}

// redeem reports whether the state still holds, and had not been redeemed before.
func (s *sealer) redeem(t ticket) bool {
	now := time.Now().UnixMilli()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, used := s.redeemed[t.nonce]; used || now > t.expires || t.expires <= s.floor {
		return false
	}
	if now-s.swept > s.ttl.Milliseconds()/2 || len(s.redeemed) >= maxRedeemed {
		maps.DeleteFunc(s.redeemed, func(_ string, at int64) bool { return now > at })
		s.swept = now
	}
	if len(s.redeemed) >= maxRedeemed {
		s.floor = slices.Sorted(maps.Values(s.redeemed))[maxRedeemed/2]
		maps.DeleteFunc(s.redeemed, func(_ string, at int64) bool { return at <= s.floor })
		if t.expires <= s.floor {
			return false
		}
	}
	s.redeemed[t.nonce] = t.expires
	return true
}

// giveBack makes a redeemed state good again, for a call that nothing was done for.
func (s *sealer) giveBack(t ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.redeemed, t.nonce)
}

// newToken returns an unguessable name of visible ASCII characters.
func newToken() string { return rand.Text() }

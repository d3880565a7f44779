package server

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// sealer protects what travels through a client as requestState: nobody else can
// read or make one, and it holds only for the client and request it was given for
// and for a time (S8; basic/patterns/mrtr "Server Requirements" 4 and 5). Its key
// lives as long as the server.
type sealer struct {
	aead cipher.AEAD
	ttl  time.Duration
}

var errState = errors.New("the state is not valid")

func newSealer(ttl time.Duration) *sealer {
	key := make([]byte, 32)
	_, _ = rand.Read(key)           // never fails
	block, _ := aes.NewCipher(key)  // 32 bytes are a key
	aead, _ := cipher.NewGCM(block) // the standard sizes are valid
	return &sealer{aead, ttl}
}

func (s *sealer) seal(plain, binding []byte) string {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+8+len(plain)+s.aead.Overhead())
	_, _ = rand.Read(nonce)
	text := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(s.ttl).UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, append(text, plain...), binding))
}

func (s *sealer) open(state string, binding []byte) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(state)
	n := s.aead.NonceSize()
	if err != nil || len(b) < n {
		return nil, errState
	}
	text, err := s.aead.Open(nil, b[:n], b[n:], binding)
	if err != nil || len(text) < 8 || time.Now().UnixMilli() > int64(binary.BigEndian.Uint64(text)) {
		return nil, errState
	}
	return text[8:], nil
}

// newToken returns an unguessable name of visible ASCII characters.
func newToken() string { return rand.Text() }

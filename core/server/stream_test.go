package server

import "testing"

// A handler may hang up before the first writer has come; the hang-up waits for it, and
// is not for the one that resumes.
func TestHangUpBeforeTheWriter(t *testing.T) {
	st := newStream(true)
	st.drop()
	first, _ := st.attach()
	if _, _, hangUp := st.after(first, 0); !hangUp {
		t.Error("the hang-up was lost")
	}
	second, _ := st.attach()
	if _, _, hangUp := st.after(second, 0); hangUp {
		t.Error("the writer that resumes is hung up too")
	}
}

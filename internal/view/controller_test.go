package view

import (
	"io"
	"slices"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
	"github.com/kapi-dev/kapi/internal/text"
)

func TestController(t *testing.T) {
	s := joinedtest.Lab(t)
	all := joinedtest.Of[*v1alpha1.Controller](s, "controllers")
	for _, name := range []string{"namespace", "root-ca-cert-publisher", "resourcequota", "csrsigning", "deployment"} {
		i := slices.IndexFunc(all, func(c *v1alpha1.Controller) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("the recording has no %s", name)
		}
		golden(t, "controller/"+name, func(w io.Writer, screen text.Screen) error { return Controller(w, screen, all[i], s.Facts.At) })
	}
	strange := &v1alpha1.Controller{}
	strange.Name, strange.Spec.Doc, strange.Status.LastError = "部品", "e\u0301tendue \x1b[2J", "a\nb\x07"
	golden(t, "controller/strange", func(w io.Writer, screen text.Screen) error { return Controller(w, screen, strange, s.Facts.At) })
}

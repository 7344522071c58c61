package logging

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestZapFields(t *testing.T) {
	t.Parallel()
	l, out := newLogs(t, Options{})
	z := l.Zap().With(zap.String("cluster", "c1"), zap.Skip())
	z.Warn("x", zap.Int("n", 1), zap.Error(errors.New("no")), zap.Duration("took", time.Second),
		zap.Strings("urls", []string{"a", "b"}), zap.Stringer("s", time.Minute), zap.Bool("ok", true),
		zap.Inline(pair{}), zap.Object("o", pair{}), zap.Object("bad", badObject{}), zap.String("password", "hunter2"),
		zap.Namespace("ns"), zap.Int("m", 2))
	z.Named("a").Named("b").Error("y", zap.Error(nil))
	want := []string{
		`WARN  etcd      x cluster=c1 n=1 error=no took=1s urls="[\"a\",\"b\"]" s=1m0s ok=true left=1 right=2 o="{\"left\":1,\"right\":2}" badError="encoding: broken" password=REDACTED ns.m=2`,
		`ERROR etcd      y logger=a.b cluster=c1`,
	}
	if got := lines(t, out); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

type pair struct{}

func (pair) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddInt("left", 1)
	e.AddInt("right", 2)
	return nil
}

type badObject struct{}

func (badObject) MarshalLogObject(zapcore.ObjectEncoder) error { panic("broken") }

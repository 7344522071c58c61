package config

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestNearestFlag(t *testing.T) {
	t.Parallel()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(own)
	for name, want := range map[string]string{"secure-prot": "secure-port", "secureport": "secure-port", "secure_port": "secure-port", "data-dri": "data-dir",
		"annonymous-auth": "anonymous-auth", "Etcd-Servers": "etcd-servers", "loging-format": "logging-format", "wholly-different-thing": "", "": ""} {
		if got := NearestFlag(name, own, nil, kubeFlags()); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := NearestFlag("a"); got != "" {
		t.Errorf("no sets: %q", got)
	}
}

func TestFlagErrorFunc(t *testing.T) {
	t.Parallel()
	run := func(args ...string) error {
		cmd := &cobra.Command{Use: "serve", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		AddFlags(cmd.Flags())
		cmd.Flags().BoolP("quiet", "q", false, "")
		cmd.SetFlagErrorFunc(FlagErrorFunc)
		cmd.SetArgs(args)
		return cmd.Execute()
	}
	for arg, want := range map[string]string{
		"--secure-prot=1": "unknown flag --secure-prot; did you mean --secure-port?",
		"--zzzzzzzz":      "unknown flag --zzzzzzzz",
		"-x":              "unknown flag -x",
		"-secure-port=1":  "unknown flag -secure-port; did you mean --secure-port?",
		"--secure-port":   "flag needs an argument: --secure-port",
		"--secure-port=x": `invalid argument "x" for "--secure-port" flag: not a whole number; want a port from 0 to 65535, 0 for any free one`,
	} {
		err := run(arg)
		if err == nil || err.Error() != want || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: %v (exit code %d), want %s", arg, err, fault.Code(err), want)
		}
	}
	if err := run("-q", "--secure-port=1"); err != nil {
		t.Error(err)
	}
	if err := FlagErrorFunc(&cobra.Command{}, pflag.ErrHelp); !errors.Is(err, pflag.ErrHelp) || fault.Code(err) == fault.CodeUsage {
		t.Errorf("help became %v", err)
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Bytes{"0": 0, "1": 1, "8Gi": 8 << 30, "1.5Gi": 3 << 29, "500M": 500e6, "2k": 2000, "9223372036854775806": math.MaxInt64 - 1, "0.5Ki": 512, " 1Mi ": 1 << 20} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q: %d, %v", text, b, err)
		}
		var again Bytes
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Errorf("%q prints as %q, which is %d, %v", text, b, again, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "+1", "1e3", "0.1", "8GiB", "8 Gi", "9223372036854775807", "9223372036854775808", "8193Pi", "1m", "1.", ".5Gi", "99999999999999999999"} {
		var b Bytes
		if err := b.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %d", text, b)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	in := struct{ D Duration }{Duration(90 * time.Second)}
	text, err := json.Marshal(in)
	if err != nil || string(text) != `{"D":"1m30s"}` {
		t.Fatalf("%s, %v", text, err)
	}
	out := in
	out.D = 0
	if err := json.Unmarshal(text, &out); err != nil || out != in || out.D.Std() != 90*time.Second {
		t.Errorf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"D":"30"}`), &out); err == nil {
		t.Error("a duration without a unit was taken")
	}
}

func TestParseServiceMapping(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ServiceMapping{
		"kube-system/metrics-server:443=127.0.0.1:4443": {"kube-system/metrics-server", 443, "127.0.0.1:4443"},
		"a/b:1=[::1]:65535":                             {"a/b", 1, "[::1]:65535"},
		"a/b:1=My_Host.Example.com:2":                   {"a/b", 1, "My_Host.Example.com:2"},
	} {
		m, err := ParseServiceMapping(text)
		if err != nil || m != want || m.String() != text {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "=", "a/b=c:1", "a/b:1", "a/b:1=", "a/b:1=c", "a/b:1=c:", "a/b:1=:1", "a/b:0=c:1", "a/b:65536=c:1", "a/b:-1=c:1", "a/b:+1=c:1",
		"a:1=c:1", "/b:1=c:1", "a/:1=c:1", "a/b/c:1=c:1", "A/b:1=c:1", "a/b:x=c:1", "a/b:1=c:http", "a/b:1=c:70000", "a/b:1=::1:1", "a/b:1=c=d:1", "a/b:1=[fe80::1%eth0]:1", "a/b:1=http://c:1", "a/b:1:2=c:1", " a/b:1=c:1"} {
		if m, err := ParseServiceMapping(text); err == nil {
			t.Errorf("%q is taken for %v", text, m)
		}
	}
}

func TestSplitList(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{nil, {"a"}, {"a", "b"}, {"a,b", `c"d`, "e f"}, {"A=1,B=2", "=", "#x"}} {
		got, err := splitList(joinCSV(list))
		if err != nil || formatValue(got) != formatValue(list) {
			t.Errorf("%q became %q, %v", list, got, err)
		}
	}
	for _, text := range []string{"a\nb", `"a`, `a"b`} {
		if got, err := splitList(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}

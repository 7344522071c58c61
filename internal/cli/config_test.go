package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
)

// configTestDeps takes nothing from the machine that the test runs on.
func configTestDeps(environ ...string) ConfigDeps {
	return ConfigDeps{
		KubeFlags: func() *pflag.FlagSet {
			fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
			fs.Bool("anonymous-auth", true, "Anonymous.")
			fs.StringSlice("enable-admission-plugins", nil, "Plugins.")
			fs.Int("secure-port", 1, "Owned.")
			return fs
		},
		Sources: func(flags, kube *pflag.FlagSet) config.LoadOptions {
			return config.LoadOptions{Flags: flags, KubeFlags: kube, Environ: environ}
		},
	}
}

func runConfig(t *testing.T, deps ConfigDeps, args ...string) (string, error) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := NewConfigCmd(deps)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	if errOut.Len() > 0 {
		t.Errorf("%q printed to stderr: %s", args, &errOut)
	}
	return out.String(), err
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kapi.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const configViewGolden = `dataDir: /d # KAPI_DATADIR
server:
  bindAddress: 127.0.0.1 # default
  securePort: 0 # --secure-port
  names: # file FILE line 2
    - A.example.com
    - '*.b'
etcd:
  servers: [] # default
  caFile: "" # default
  certFile: "" # default
  keyFile: "" # default
  prefix: /registry # default
  quotaBytes: 8Gi # default
  unsafeNoFsync: false # default
serviceMap: # --map-service
  - name: a/b
    port: 1
    address: x:2
manifests: [] # default
kubeAPIServer:
  flags:
    - name: anonymous-auth # file FILE line 5
      value: "false"
    - name: enable-admission-plugins # --enable-admission-plugins
      value: A,B
controllers:
  enabled: # default
    - api
  fakeNodes: 0 # default
  leaseDuration: 15s # default
inspect:
  observe: true # default
  traces: 2000 # default
  notableTraces: 500 # default
  slowerThan: 1s # default
  watchRate: 500 # default
lifecycle:
  stopTimeout: 30s # default
  readyFile: "" # default
  pidFile: "" # default
log:
  format: text # default
  verbosity: 4 # --v
`

func TestConfigView(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "server:\n  names: [A.example.com, '*.b']\nkubeAPIServer:\n  flags:\n  - {name: anonymous-auth, value: false}\n")
	args := []string{"view", "--config", file, "--secure-port=0", "-v4", "--map-service=a/b:1=x:2", "--enable-admission-plugins=A,B"}
	deps := configTestDeps("KAPI_DATADIR=/d")
	out, err := runConfig(t, deps, append(args, "--origin")...)
	if want := strings.ReplaceAll(configViewGolden, "FILE", file); err != nil || out != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out, want)
	}

	plain, err := runConfig(t, deps, args...)
	if err != nil || strings.Contains(plain, "#") {
		t.Errorf("without --origin: %v\n%s", err, plain)
	}
	out, err = runConfig(t, configTestDeps(), "view", "--config", writeConfig(t, plain))
	if err != nil || out != plain {
		t.Errorf("the output as a file gives %v\n%s\nwant\n%s", err, out, plain)
	}
}

func TestConfigViewJSON(t *testing.T) {
	t.Parallel()
	out, err := runConfig(t, configTestDeps("KAPI_KUBEAPISERVER_FLAGS=anonymous-auth=false"), "view", "-o", "json", "--origin")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Config  config.Config
		Origins map[string]string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if got.Config.Server.SecurePort != 6443 || got.Origins["server.securePort"] != "default" ||
		got.Origins["kubeAPIServer.flags[anonymous-auth]"] != "KAPI_KUBEAPISERVER_FLAGS" || strings.Contains(out, "null") {
		t.Errorf("got\n%s", out)
	}
	out, err = runConfig(t, configTestDeps(), "view", "-o", "json")
	if err != nil || !strings.HasPrefix(out, "{\n  \"dataDir\": \"\",\n") {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	good := filepath.Join("..", "..", "configs", "kapi.yaml")
	// The environment does not count, not even when it is wrong.
	out, err := runConfig(t, configTestDeps("KAPI_NONSENSE=1"), "validate", good)
	if err != nil || out != good+": valid\n" {
		t.Errorf("got %q, %v", out, err)
	}
	bad := writeConfig(t, "server:\n  securPort: 1\nkubeAPIServer:\n  flags:\n  - {name: anonymus-auth, value: x}\nlog: {format: xml}\n")
	out, err = runConfig(t, configTestDeps(), "validate", bad)
	if fault.Code(err) != fault.CodeUsage || out != "" {
		t.Fatalf("got %q, %v", out, err)
	}
	want := strings.ReplaceAll(`unknown key server.securPort at FILE:2; did you mean server.securePort?
unknown kube-apiserver flag anonymus-auth in kubeAPIServer.flags (file FILE line 5); did you mean anonymous-auth?
log.format: "xml" is not allowed: want text or json (file FILE line 6)`, "FILE", bad)
	if err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestConfigUsageErrors(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"veiw":                          `unknown command "veiw" for "config"`,
		"validate":                      "takes one file, got 0 arguments",
		"validate a b":                  "takes one file, got 2 arguments",
		"validate /does/not/exist":      "reading configuration file",
		"view x":                        `takes no argument "x"`,
		"view -o xml":                   `--output: "xml" is not allowed: want yaml or json`,
		"view --secure-prot=1":          "did you mean --secure-port?",
		"view --anonymus-auth":          "did you mean --anonymous-auth?",
		"view --anonymous-auth=maybe":   `invalid argument "maybe" for "--anonymous-auth"`,
		"view --secure-port=70000":      `server.securePort: "70000" is not allowed: want a port from 0 to 65535, 0 for any free one (--secure-port)`,
		"view --config=/does/not/exist": "reading configuration file",
	} {
		out, err := runConfig(t, configTestDeps(), strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || fault.Code(err) != fault.CodeUsage || out != "" {
			t.Errorf("%s: %q, %v (exit code %d), want %s", args, out, err, fault.Code(err), want)
		}
	}
}

func TestConfigHelp(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                "Available Commands:",
		"view --help":     "Kapi etcd flags:",
		"validate --help": "validate FILE",
	} {
		if out, err := runConfig(t, configTestDeps(), strings.Fields(args)...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	if out, _ := runConfig(t, ConfigDeps{}, "view", "--help"); strings.Contains(out, "anonymous-auth") {
		t.Error("flags of kube-apiserver without a set of them")
	}
}

// The options that reach the work, with a stand-in for the work.
func TestConfigOptions(t *testing.T) {
	t.Parallel()
	var view *ConfigViewOptions
	cmd := NewConfigViewCmd(configTestDeps("A=b"), func(_ context.Context, o *ConfigViewOptions) error { view = o; return nil })
	cmd.SetArgs([]string{"--origin"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || !view.Origin || view.Output != "yaml" || view.Out == nil || len(view.Load.Environ) != 1 {
		t.Errorf("%v, %+v", err, view)
	}
	var validate *ConfigValidateOptions
	cmd = NewConfigValidateCmd(configTestDeps(), func(_ context.Context, o *ConfigValidateOptions) error { validate = o; return nil })
	cmd.SetArgs([]string{"f"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || validate.File != "f" || validate.KubeFlags == nil {
		t.Errorf("%v, %+v", err, validate)
	}
}

package recorded

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// secrets are credentials as they look in what servers say; planted is in each and
// must not stay.
const planted = "s3cr3tS3cr3tS3cr3t"

func secrets() map[string]string {
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + planted + "\n" + planted + "==\n-----END RSA PRIVATE KEY-----\n"
	return map[string]string{
		"bearer token":          "Authorization: Bearer " + planted,
		"bearer in a message":   `level=error msg="sending bearer ` + planted + `"`,
		"bearer in a query":     "GET /x?authorization=Bearer%20" + planted,
		"basic":                 "authorization: Basic dXNlcjpw" + planted,
		"JWT":                   "got eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJr" + planted + ".c2ln" + planted,
		"JWE":                   "eyJhbGciOiJSU0EtT0FFUCJ9." + planted + "." + planted + "." + planted + "." + planted,
		"JWT in base64":         "token ZXlKaGJHY2lPaUpTVXpJMU5pSXNJbXRwWkNJNklpSjk" + planted + "==",
		"URL":                   "dialing https://kapi:" + planted + "@etcd.example:2379/health: refused",
		"URL, odd password":     "proxy http://u:p@ss" + planted + "@proxy:3128",
		"private key":           pem,
		"private key, indented": "key: |\n  " + strings.ReplaceAll(pem, "\n", "\n  "),
		"private key in JSON":   `{"x":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`,
		"private key, no end":   `{"x":"` + strings.ReplaceAll(pem[:60], "\n", `\n`) + planted + `","y":1}`,
		"kubeconfig":            "    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt" + planted + "==",
		"PEM in base64":         "data=LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0" + planted,
		"query":                 "GET /x?watch=1&access_token=" + planted + "&limit=5",
		"query, quoted":         "GET /x?next=%2Fy%3Ftoken%3D" + planted,
		"flag":                  "command: kubectl --token=" + planted + " get pods",
		"flag, apart":           "command: kubectl --password " + planted + " get pods",
		"YAML":                  "  password: '" + planted + "'",
		"JSON":                  `{"clientSecret":"` + planted + `","z":1}`,
		"JSON with blanks":      `{"token" : "an other ` + planted + `, \"quoted\" ` + planted + `","z":1}`,
		"JSON in JSON":          `{"x":"{\"password\":\"` + planted + `\",\"y\":1}","z":1}`,
		"label of a metric":     `requests_total{token="` + planted + `"} 5`,
		"environment":           "AWS_SECRET_ACCESS_KEY=" + planted + "/x API_KEY=" + planted,
		"in capitals":           "PASSWORD=" + planted,
		"password with signs":   `dsn password=(` + planted + `;%&` + "\n",
	}
}

func TestRedactRemovesCredentials(t *testing.T) {
	t.Parallel()
	for name, text := range secrets() {
		clean := redact("before\n" + text + "\nafter")
		if strings.Contains(clean, planted) {
			t.Errorf("%s: %q is still there", name, clean)
		}
		if !strings.Contains(clean, removed) || !strings.HasPrefix(clean, "before\n") || !strings.HasSuffix(clean, "\nafter") {
			t.Errorf("%s: it became %q", name, clean)
		}
		if strings.HasPrefix(text, "{") && !json.Valid([]byte(strings.Split(clean, "\n")[1])) {
			t.Errorf("%s: no longer JSON: %q", name, clean)
		}
	}
	for text, want := range map[string]string{
		"tok " + "abcdef.0123456789abcdef.":     "tok [removed].",
		"https://u:p@host/a?b=c@d":              "https://[removed]@host/a?b=c@d",
		"/x?a=1&token=abc&b=2":                  "/x?a=1&token=[removed]&b=2",
		`{"secret":"a","b":2}`:                  `{"secret":"[removed]","b":2}`,
		"Authorization: Bearer secretly":        "Authorization: Bearer [removed]",
		`{"x":"Authorization: Bearer abcdefg"}`: `{"x":"Authorization: Bearer [removed]"}`,
	} {
		if got := redact(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// What servers really say stays as it is.
func TestRedactKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"bearer authentication, or basic authentication", "Basic constraints", `{"automountServiceAccountToken":false,"secret":null,"token":7}`,
		`{"properties":{"password":{"type":"string"},"token":{"type":"string"}},"required":["password","token"]}`,
		`apiserver_request_total{resource="secrets",verb="LIST"} 12`, "authentication_token_cache_request_total{status=\"hit\"} 3",
		"[+]poststarthook/start-service-account-token-controller ok", `{"resource":"secrets","kind":"Secret","name":"token"}`,
		"--service-account-signing-key-file", "--token-auth-file /etc/x", "https://127.0.0.1:6443/api?limit=500",
		"policy.networkpolicies", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "",
		"\n\n", "no line break", "with one\n",
	} {
		if got := redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, name := range []string{"before.json", "after.json"} {
		if got := redact(string(golden(t, name))); got != string(golden(t, name)) {
			t.Errorf("%s has changed", name)
		}
	}
}

// A part writes as it likes: lines come in pieces.
func TestRedactorTakesPieces(t *testing.T) {
	t.Parallel()
	for name, text := range secrets() {
		want := redact(text)
		for _, size := range []int{1, 7, 64} {
			var out bytes.Buffer
			r := newRedactor(&out)
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if n, err := r.Write(rest[:min(size, len(rest))]); err != nil || n == 0 {
					t.Fatalf("wrote %d, %v", n, err)
				}
			}
			must(t, r.Close())
			if out.String() != want {
				t.Errorf("%s in pieces of %d: %q, want %q", name, size, out.String(), want)
			}
		}
	}
}

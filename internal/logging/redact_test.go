package logging

import (
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/zap"
)

func TestSecretKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"token": true, "Token": true, "TOKEN": true, "bearer": true, "Bearer-Token": true, "access_token": true,
		"password": true, "Authorization": true, "secret": true, "clientSecret": true, "key-data": true,
		"client-key-data": true, "keyData": true, "private_key": true,
		"token-fingerprint": false, "secretName": false, "tokens": false, "key": false, "user": false, "": false,
	} {
		if got := secretKey(key); got != want {
			t.Errorf("secretKey(%q) = %v, want %v", key, got, want)
		}
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrYXBpIn0.c2lnbmF0dXJl"
	pem := "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI\n-----END EC PRIVATE KEY-----"
	for _, tc := range []struct{ in, want string }{
		{"Authorization: Bearer abc.def-123", "Authorization: Bearer REDACTED"},
		{`{"Authorization":["bearer abc"]}`, `{"Authorization":["bearer REDACTED"]}`},
		{"curl -H 'Authorization: Bearer s3cr3t'", "curl -H 'Authorization: Bearer REDACTED'"},
		{"Bearer <masked>", "Bearer <masked>"},
		{"invalid bearer token, token lookup failed", "invalid bearer token, token lookup failed"},
		{`Bearer realm="x"`, `Bearer realm="x"`},
		{"Basic YWRtaW46aHVudGVyMg==", "Basic REDACTED"},
		{"basic authentication is off", "basic authentication is off"},
		{"get https://me:hunter2@host:2379/x?y: no", "get https://me:REDACTED@host:2379/x?y: no"},
		{"https://a:b@h1,https://c:p@ss@h2", "https://a:REDACTED@h1,https://c:REDACTED@h2"},
		{"https://:pw@h", "https://:REDACTED@h"},
		{"https://127.0.0.1:6443/a@b", "https://127.0.0.1:6443/a@b"},
		{"unix://@abstract, mail me@host", "unix://@abstract, mail me@host"},
		{"token is " + jwt + ".", "token is REDACTED."},
		{"key:\n" + pem + "\nend", "key:\nREDACTED\nend"},
		{"key:\n" + pem[:40], "key:\nREDACTED"},
		{`{"status":{"token":"abc","expires":1}}`, `{"status":{"token":"REDACTED","expires":1}}`},
		{`"{\"password\": \"abc\"}"`, `"{\"password\": \"REDACTED\"}"`},
		{`{"secretName":"a","token_ttl":"5m"}`, `{"secretName":"a","token_ttl":"5m"}`},
		{"GET /x?access_token=abc&watch=1", "GET /x?access_token=REDACTED&watch=1"},
		{`"/x?limit=5&fieldSelector=metadata.name%3Dabc&command=abc": no`, `"/x?limit=5&fieldSelector=REDACTED&command=REDACTED": no`},
		{`{"uri":"/x?watch=1\u0026command=abc"}`, `{"uri":"/x?watch=1\u0026command=REDACTED"}`},
		{"why? a=b & c=d", "why? a=b & c=d"},
		{"nothing", "nothing"},
	} {
		if got := mask(tc.in); got != tc.want {
			t.Errorf("mask(%q)\n got %q\nwant %q", tc.in, got, tc.want)
		}
		if got := mask(mask(tc.in)); got != tc.want {
			t.Errorf("mask(mask(%q)) = %q", tc.in, got)
		}
	}
}

// TestNoSecretGetsOut sends one secret through every way into the log.
func TestNoSecretGetsOut(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, format := range []string{FormatText, FormatJSON} {
		var fatal string
		l, out := newLogs(t, Options{Format: format, Verbosity: 9, OnFatal: func(msg, _ string) { fatal = msg }})
		log := l.Logger()
		header := map[string][]string{"Authorization": {"Bearer " + secret}}
		log.Info("Bearer "+secret, "token", secret, "url", "https://me:"+secret+"@host", "header", header)
		log.With("Password", secret).WithGroup("g").Info("x", "secret", []string{secret}, slog.Group("secret", "a", secret))
		log.Info("x", "o", secretObject{"me", secret}, "p", &secretObject{"me", secret}, "m", map[string]any{"token": secret})
		sink := l.KlogSink()
		sink.Logger.WithValues("authorization", secret).Info("x", "body", `{"token":"`+secret+`"}`)
		sink.Write([]byte("E0102 15:04:05.000000    1234 a.go:1] one\nhttps://me:" + secret + "@host\n"))
		sink.Write([]byte("F0102 15:04:05.000000    1234 a.go:1] Bearer " + secret + "\n"))
		z := l.Zap().With(zap.String("token", secret))
		z.Error("x", zap.Strings("endpoints", []string{"https://me:" + secret + "@host"}), zap.Any("key-data", []byte(secret)))
		if got := out.String(); strings.Contains(got, secret) || strings.Count(got, redacted) < 14 {
			t.Errorf("%s:\n%s", format, got)
		}
		if fatal != "Bearer "+redacted {
			t.Errorf("OnFatal got %q", fatal)
		}
	}
}

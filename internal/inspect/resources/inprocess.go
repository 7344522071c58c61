package resources

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
)

// ask sends a GET to a handler of this process, past all filters. accept and
// etag are optional. The answer is whole in memory.
func ask(ctx context.Context, handler http.Handler, path, accept, etag string) (*httptest.ResponseRecorder, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", path, err)
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK && answer.Code != http.StatusNotModified {
		return nil, fmt.Errorf("asking for %s: %w", path, &statusError{answer.Code})
	}
	return answer, nil
}

// statusError is an answer that is none.
type statusError struct{ code int }

// Error implements error.
func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.code, http.StatusText(e.code))
}

// isNotFound tells whether nobody knows the path that was asked for.
func isNotFound(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code == http.StatusNotFound
}

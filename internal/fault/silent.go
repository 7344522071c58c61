package fault

import "errors"

type silent struct{ error }

func (s *silent) Unwrap() error { return s.error }

// Silent marks an error of which nothing is to be printed: the reason stands on
// the screen already, or is the user's own interrupt. Its exit code counts.
func Silent(err error) error {
	if err == nil {
		return nil
	}
	return &silent{err}
}

// IsSilent tells whether nothing is to be printed of err.
func IsSilent(err error) bool {
	var s *silent
	return errors.As(err, &s)
}

package e2e_test

import (
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

func TestMain(m *testing.M) { kapitest.Main(m) }

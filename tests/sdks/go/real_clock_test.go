// The one test on the machine's clock.
package sdks

import (
	"os"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestRealClock(t *testing.T) {
	system, err := connect(os.Getenv("EBB_SYSTEM_ENDPOINT"), os.Getenv("EBB_KEY"))
	must(t, err)
	_, err = system.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: named(t)}, nil)
	must(t, err)
	database, err := system.NewDatabase(named(t))
	must(t, err)
	properties := byPath("c", "/pk")
	properties.DefaultTimeToLive = to.Ptr(int32(-1))
	container := create(t, database, properties)
	put(t, container, `{"id":"1","pk":"a","ttl":2}`)
	equal(t, read(t, container, "1"), `{"id": "1", "pk": "a", "ttl": 2}`)
	time.Sleep(2 * time.Second)
	_, err = container.ReadItem(ctx, a, "1", nil)
	refused(t, err, 404, "0", noItem)
	equal(t, query(t, container, anywhere, "SELECT VALUE COUNT(1) FROM c"), `[0]`)
	put(t, container, `{"id":"1","pk":"a","ttl":2}`)
}

// The one test on the machine's own clock, against a server of its own.
package drivers

import (
	"errors"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestRealClockATTLOfOneSecond(t *testing.T) {
	real, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("EBB_SYSTEM_URI")))
	must(t, err)
	defer real.Disconnect(ctx)
	coll := real.Database("go_real_clock").Collection("coll")
	ttlIndex(t, coll, 3600)
	insert(t, coll, m{"_id": 1, "ttl": 1}, m{"_id": 2})
	giveUp := time.Now().Add(10 * time.Second)
	for !errors.Is(coll.FindOne(ctx, m{"_id": 1}).Err(), mongo.ErrNoDocuments) {
		if time.Now().After(giveUp) {
			t.Fatal("still there after ten seconds")
		}
		time.Sleep(20 * time.Millisecond)
	}
	equal(t, bson.A{count(t, coll, m{}), estimated(t, coll)}, `[1, 1]`)
	equal(t, distinct(t, coll), `[2]`)
	insert(t, coll, m{"_id": 1})
}

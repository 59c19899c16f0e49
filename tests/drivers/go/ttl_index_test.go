// The TTL index on _ts: made, listed, changed, refused and dropped.
package drivers

import (
	"fmt"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func createRaw(coll *mongo.Collection, seconds any) (bson.Raw, error) {
	return coll.Database().RunCommand(ctx, bson.D{
		{"createIndexes", coll.Name()},
		{"indexes", bson.A{bson.D{{"key", bson.D{{"_ts", 1}}}, {"name", "_ts_1"}, {"expireAfterSeconds", seconds}}}},
	}).Raw()
}

func change(coll *mongo.Collection, index bson.D) (bson.Raw, error) {
	return coll.Database().RunCommand(ctx, bson.D{{"collMod", coll.Name()}, {"index", index}}).Raw()
}

func assertSeedReply(t *testing.T, reply bson.Raw) {
	t.Helper()
	var fields struct {
		T      string  `bson:"_t"`
		Ok     float64 `bson:"ok"`
		Made   bool    `bson:"createdCollectionAutomatically"`
		Before int32   `bson:"numIndexesBefore"`
		After  int32   `bson:"numIndexesAfter"`
	}
	must(t, bson.Unmarshal(reply, &fields))
	if fields.T != "CreateIndexesResponse" || fields.Ok != 1 || !fields.Made || fields.Before != 1 || fields.After != 2 {
		t.Fatal(reply)
	}
}

func assertListed(t *testing.T, coll *mongo.Collection, seconds int) {
	t.Helper()
	cursor, err := coll.Indexes().List(ctx)
	equal(t, all(t, cursor, err), fmt.Sprintf(`[
		{"v": 2, "key": {"_id": 1}, "name": "_id_"},
		{"v": 2, "key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": %d}]`, seconds))
}

func TestCreateOneHelper(t *testing.T) {
	coll := fresh(t)
	ttlIndex(t, coll, 10)
	assertSeedReply(t, replies["createIndexes"])
	assertListed(t, coll, 10)
}

func TestCreateManyHelper(t *testing.T) {
	coll := fresh(t)
	names, err := coll.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{"_ts", 1}}, Options: options.Index().SetExpireAfterSeconds(10)},
	})
	must(t, err)
	equal(t, names, `["_ts_1"]`)
	assertSeedReply(t, replies["createIndexes"])
	assertListed(t, coll, 10)
}

func TestRawCommand(t *testing.T) {
	for style, seconds := range map[string]any{"int32": int32(10), "int64 as Java": int64(10), "double as C#": 10.0} {
		t.Run(style, func(t *testing.T) {
			coll := fresh(t)
			reply, err := createRaw(coll, seconds)
			must(t, err)
			assertSeedReply(t, reply)
			assertListed(t, coll, 10)
		})
	}
}

func TestMinusOneTurnsTTLOnWithoutADefault(t *testing.T) {
	coll := fresh(t)
	ttlIndex(t, coll, -1)
	assertListed(t, coll, -1)
	insert(t, coll, m{"_id": "stays"}, m{"_id": "goes", "ttl": 20})
	advance(t, 20)
	equal(t, distinct(t, coll), `["stays"]`)
}

func TestTheSameAgainIsANoOpAndAnotherValueAConflict(t *testing.T) {
	coll := freshTTL(t)
	reply, err := createRaw(coll, 10)
	must(t, err)
	equal(t, bson.A{reply.Lookup("numIndexesBefore"), reply.Lookup("numIndexesAfter")}, `[2, 2]`)
	_, err = createRaw(coll, 11)
	refused(t, err, 85)
	assertListed(t, coll, 10)
}

func TestValuesThatMeanNothingAreRefused(t *testing.T) {
	coll := fresh(t)
	for _, c := range expected(t).Refused {
		_, err := createRaw(coll, c.Value)
		refused(t, err, 67)
	}
}

func TestCollModChangesTheDefault(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1})
	reply, err := change(coll, bson.D{{"keyPattern", m{"_ts": 1}}, {"expireAfterSeconds", 30}})
	must(t, err)
	equal(t, bson.A{reply.Lookup("expireAfterSeconds_old"), reply.Lookup("expireAfterSeconds_new")}, `[10, 30]`)
	assertListed(t, coll, 30)
	advance(t, 29)
	equal(t, distinct(t, coll), `[1]`)
	advance(t, 1)
	equal(t, distinct(t, coll), `[]`)

	insert(t, coll, m{"_id": 2})
	_, err = change(coll, bson.D{{"name", "_ts_1"}, {"expireAfterSeconds", -1}})
	must(t, err)
	assertListed(t, coll, -1)
	advance(t, 1e6)
	equal(t, distinct(t, coll), `[2]`)
	_, err = change(coll, bson.D{{"name", "_ts_1"}, {"expireAfterSeconds", 5}})
	must(t, err)
	equal(t, distinct(t, coll), `[]`)
}

func TestCollModRefusesWhatItMust(t *testing.T) {
	coll := freshTTL(t)
	for _, seconds := range []any{0, -2, math.NaN()} {
		_, err := change(coll, bson.D{{"name", "_ts_1"}, {"expireAfterSeconds", seconds}})
		refused(t, err, 72)
	}
	_, err := change(coll, bson.D{{"name", "no_such_index"}, {"expireAfterSeconds", 10}})
	refused(t, err, 27)
	assertListed(t, coll, 10)
}

func TestDroppingTurnsTTLOffAndNothingComesBack(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": "dead"}, m{"_id": "explicit", "ttl": 20})
	advance(t, 10)
	insert(t, coll, m{"_id": "later"})
	must(t, coll.Indexes().DropOne(ctx, "_ts_1"))
	advance(t, 1e6)
	equal(t, ids(t, find(t, coll, m{})), `["explicit", "later"]`)
	ttlIndex(t, coll, -1)
	equal(t, ids(t, find(t, coll, m{})), `["later"]`) // its own ttl is interpreted again
	_, err := change(coll, bson.D{{"name", "_ts_1"}, {"expireAfterSeconds", 2_000_000}})
	must(t, err)
	equal(t, ids(t, find(t, coll, m{})), `["later"]`)
}

func TestTurningItOnAppliesToDocumentsThatAreThere(t *testing.T) {
	coll := fresh(t)
	insert(t, coll, m{"_id": "old"})
	advance(t, 10)
	insert(t, coll, m{"_id": "young"})
	ttlIndex(t, coll, 10)
	equal(t, distinct(t, coll), `["young"]`)
}

// MongoDB's own TTL index on a date, exact to the millisecond.
package drivers

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func freshDated(t *testing.T) *mongo.Collection {
	t.Helper()
	coll := fresh(t)
	_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{"at", 1}}, Options: options.Index().SetExpireAfterSeconds(5),
	})
	must(t, err)
	return coll
}

func TestADateIndexIsListed(t *testing.T) {
	cursor, err := freshDated(t).Indexes().List(ctx)
	equal(t, all(t, cursor, err)[1], `{"v": 2, "key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 5}`)
}

func TestADatedDocumentDiesToTheMillisecond(t *testing.T) {
	coll := freshDated(t)
	insert(t, coll, m{"_id": 1, "at": clock(t).Add(250 * time.Millisecond)})
	advance(t, 5.249)
	equal(t, bson.A{count(t, coll, m{}), estimated(t, coll)}, `[1, 1]`)
	advance(t, 0.001)
	equal(t, bson.A{count(t, coll, m{}), estimated(t, coll)}, `[0, 0]`)
}

func TestCollModChangesADateIndexAndNothingComesBack(t *testing.T) {
	coll := freshDated(t)
	now := clock(t)
	insert(t, coll, m{"_id": 1, "at": now}, m{"_id": 2, "at": now.Add(2 * time.Second)})
	advance(t, 5)
	equal(t, distinct(t, coll), `[2]`)
	reply, err := change(coll, bson.D{{"keyPattern", m{"at": 1}}, {"expireAfterSeconds", 60}})
	must(t, err)
	equal(t, bson.A{reply.Lookup("expireAfterSeconds_old"), reply.Lookup("expireAfterSeconds_new")}, `[5, 60]`)
	equal(t, distinct(t, coll), `[2]`)
	advance(t, 56.999)
	equal(t, distinct(t, coll), `[2]`)
	advance(t, 0.001)
	equal(t, distinct(t, coll), `[]`)

	insert(t, coll, m{"_id": 3, "at": clock(t).Add(-59 * time.Second)})
	equal(t, distinct(t, coll), `[3]`) // an old date under a longer time is alive
	must(t, coll.Indexes().DropOne(ctx, "at_1"))
	equal(t, distinct(t, coll), `[3]`)
}

func TestAnArrayCountsByItsEarliestDate(t *testing.T) {
	coll := freshDated(t)
	now := clock(t)
	insert(t, coll, m{"_id": 1, "at": bson.A{now.Add(time.Hour), true, now, "x"}})
	advance(t, 4.999)
	equal(t, count(t, coll, m{}), `1`)
	advance(t, 0.001)
	equal(t, count(t, coll, m{}), `0`)
}

func TestWithoutADateADocumentLives(t *testing.T) {
	coll := freshDated(t)
	insert(t, coll, m{"_id": 1}, m{"_id": 2, "at": "2020-01-01"}, m{"_id": 3, "at": 5}, m{"_id": 4, "at": nil})
	advance(t, 1e6)
	equal(t, count(t, coll, m{}), `4`)
}

// Writes and lifetimes: what restarts the countdown, and what a dead document gives free.
package drivers

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func update(t *testing.T, coll *mongo.Collection, id any, change any) *mongo.UpdateResult {
	t.Helper()
	result, err := coll.UpdateByID(ctx, id, change)
	must(t, err)
	return result
}

func TestAnyWriteRestartsTheCountdown(t *testing.T) {
	one := m{"_id": 1}
	writes := map[string]func(*mongo.Collection) error{
		"UpdateOne": func(c *mongo.Collection) error {
			_, err := c.UpdateOne(ctx, one, m{"$set": m{"b": 2}})
			return err
		},
		"UpdateMany": func(c *mongo.Collection) error {
			_, err := c.UpdateMany(ctx, one, m{"$inc": m{"a": 1}})
			return err
		},
		"ReplaceOne": func(c *mongo.Collection) error {
			_, err := c.ReplaceOne(ctx, one, m{"a": 9})
			return err
		},
		"upsert": func(c *mongo.Collection) error {
			_, err := c.UpdateOne(ctx, one, m{"$set": m{"a": 5}}, options.UpdateOne().SetUpsert(true))
			return err
		},
		"pipeline": func(c *mongo.Collection) error {
			_, err := c.UpdateOne(ctx, one, bson.A{m{"$set": m{"a": m{"$add": bson.A{"$a", 1}}}}})
			return err
		},
		"FindOneAndUpdate": func(c *mongo.Collection) error {
			return c.FindOneAndUpdate(ctx, one, m{"$set": m{"a": 3}}).Err()
		},
		"FindOneAndReplace": func(c *mongo.Collection) error {
			return c.FindOneAndReplace(ctx, one, m{"a": 4}).Err()
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			coll := freshTTL(t)
			_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: m{"a": 1}})
			must(t, err)
			insert(t, coll, m{"_id": 1, "a": 1})
			advance(t, 9)
			must(t, write(coll))
			advance(t, 9)
			equal(t, count(t, coll, m{}), `1`)
			equal(t, count(t, coll, m{"a": m{"$gt": 0}}), `1`) // through the index as well
			advance(t, 1)
			equal(t, count(t, coll, m{}), `0`)
		})
	}
}

func TestAWriteThatChangesNothingDoesNot(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "a": 1})
	advance(t, 9)
	result := update(t, coll, 1, m{"$set": m{"a": 1}})
	equal(t, bson.A{result.MatchedCount, result.ModifiedCount}, `[1, 0]`)
	advance(t, 1)
	equal(t, count(t, coll, m{}), `0`)
}

func TestSettingTTLChangesTheDeadlineAndUnsetReturnsToTheDefault(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1})
	update(t, coll, 1, m{"$set": m{"ttl": 100}})
	advance(t, 99)
	equal(t, find(t, coll, m{}), `[{"_id": 1, "ttl": 100}]`)
	update(t, coll, 1, m{"$set": m{"ttl": -1}})
	advance(t, 1e6)
	equal(t, find(t, coll, m{}), `[{"_id": 1, "ttl": -1}]`)
	update(t, coll, 1, m{"$unset": m{"ttl": ""}})
	advance(t, 9)
	equal(t, find(t, coll, m{}), `[{"_id": 1}]`)
	advance(t, 1)
	equal(t, find(t, coll, m{}), `[]`)
}

func TestReplacingWithoutTTLReturnsToTheDefault(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "ttl": 100})
	_, err := coll.ReplaceOne(ctx, m{"_id": 1}, m{"a": 1})
	must(t, err)
	advance(t, 9)
	equal(t, find(t, coll, m{}), `[{"_id": 1, "a": 1}]`)
	advance(t, 1)
	equal(t, find(t, coll, m{}), `[]`)
}

func TestAnUpsertOnADeadIDInserts(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "old": true})
	advance(t, 10)
	result, err := coll.UpdateOne(ctx, m{"_id": 1}, m{"$set": m{"a": 1}}, options.UpdateOne().SetUpsert(true))
	must(t, err)
	equal(t, bson.A{result.MatchedCount, result.UpsertedCount, result.UpsertedID}, `[0, 1, 1]`)
	equal(t, find(t, coll, m{}), `[{"_id": 1, "a": 1}]`)
}

func TestIDAndUniqueKeyAreFreeAtTheDeadline(t *testing.T) {
	coll := freshTTL(t)
	_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: m{"mail": 1}, Options: options.Index().SetUnique(true)})
	must(t, err)
	insert(t, coll, m{"_id": 1, "mail": "a"})
	advance(t, 9)
	_, err = coll.InsertOne(ctx, m{"_id": 2, "mail": "a"})
	refused(t, err, 11000)
	_, err = coll.InsertOne(ctx, m{"_id": 1, "mail": "b"})
	refused(t, err, 11000)
	if !mongo.IsDuplicateKeyError(err) {
		t.Fatal(err)
	}
	advance(t, 1)
	insert(t, coll, m{"_id": 2, "mail": "a"}, m{"_id": 1, "mail": "b"})
	equal(t, ids(t, find(t, coll, m{"mail": "a"})), `[2]`)
	equal(t, estimated(t, coll), `2`)
}

func TestWritesFindNothingOfTheDead(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "a": 1})
	advance(t, 10)
	one, set := m{"_id": 1}, m{"$set": m{"a": 2}}
	for _, found := range []*mongo.SingleResult{
		coll.FindOneAndUpdate(ctx, one, set), coll.FindOneAndReplace(ctx, one, m{"a": 2}), coll.FindOneAndDelete(ctx, one),
	} {
		if !errors.Is(found.Err(), mongo.ErrNoDocuments) {
			t.Fatal(found.Err())
		}
	}
	updated, err := coll.UpdateMany(ctx, m{"a": 1}, set)
	must(t, err)
	replaced, err := coll.ReplaceOne(ctx, one, m{"a": 2})
	must(t, err)
	deleted, err := coll.DeleteMany(ctx, m{})
	must(t, err)
	equal(t, bson.A{updated.MatchedCount, replaced.MatchedCount, deleted.DeletedCount}, `[0, 0, 0]`)
}

func TestFindOneAndUpdateWithUpsertStartsAnew(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1, "n": 41})
	advance(t, 10)
	var found bson.D
	must(t, coll.FindOneAndUpdate(ctx, m{"_id": 1}, m{"$inc": m{"n": 1}},
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&found))
	equal(t, found, `{"_id": 1, "n": 1}`)
}

func TestAnOpenCursorStopsAtTheDeadline(t *testing.T) {
	coll := freshTTL(t)
	for n := range 10 {
		insert(t, coll, m{"_id": n})
	}
	cursor, err := coll.Find(ctx, m{}, options.Find().SetSort(m{"_id": 1}).SetBatchSize(3))
	must(t, err)
	for range 3 {
		if !cursor.Next(ctx) {
			t.Fatal(cursor.Err())
		}
	}
	advance(t, 10)
	if cursor.Next(ctx) {
		t.Fatal(cursor.Current)
	}
	must(t, cursor.Err())
}

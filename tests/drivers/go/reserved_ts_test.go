// _ts belongs to the server: never returned, never accepted, missing to every filter.
package drivers

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestTsIsNeverReturned(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, bson.D{{"_id", 1}, {"a", 1}})
	equal(t, find(t, coll, m{}), `[{"_id": 1, "a": 1}]`)
	cursor, err := coll.Find(ctx, m{}, options.Find().SetProjection(m{"_ts": 1}))
	equal(t, all(t, cursor, err), `[{"_id": 1}]`)
	cursor, err = coll.Aggregate(ctx, bson.A{m{"$project": m{"t": "$_ts"}}})
	equal(t, all(t, cursor, err), `[{"_id": 1}]`)
	values := bson.A{}
	must(t, coll.Distinct(ctx, "_ts", m{}).Decode(&values))
	equal(t, values, `[]`)
}

func TestFiltersSeeTsAsMissing(t *testing.T) {
	coll := freshTTL(t)
	insert(t, coll, m{"_id": 1})
	equal(t, count(t, coll, m{"_ts": m{"$exists": true}}), `0`)
	equal(t, count(t, coll, m{"_ts": m{"$exists": false}}), `1`)
	equal(t, count(t, coll, m{"_ts": nil}), `1`)
	equal(t, count(t, coll, m{"_ts": m{"$gt": 0}}), `0`)
}

func TestWritingTsIsRefusedWithError2(t *testing.T) {
	one := m{"_id": 1}
	updateWith := func(change any) func(*mongo.Collection) error {
		return func(c *mongo.Collection) error {
			_, err := c.UpdateOne(ctx, one, change)
			return err
		}
	}
	writes := map[string]func(*mongo.Collection) error{
		"$set":         updateWith(m{"$set": m{"_ts": 5}}),
		"$inc":         updateWith(m{"$inc": m{"_ts": 5}}),
		"$rename":      updateWith(m{"$rename": m{"a": "_ts"}}),
		"$currentDate": updateWith(m{"$currentDate": m{"_ts": true}}),
		"pipeline":     updateWith(bson.A{m{"$set": m{"_ts": 5}}}),
		"InsertOne": func(c *mongo.Collection) error {
			_, err := c.InsertOne(ctx, bson.D{{"_id", 2}, {"_ts", 5}})
			return err
		},
		"InsertMany": func(c *mongo.Collection) error {
			_, err := c.InsertMany(ctx, []any{bson.D{{"_id", 2}, {"_ts", 5}}})
			return err
		},
		"ReplaceOne": func(c *mongo.Collection) error {
			_, err := c.ReplaceOne(ctx, one, m{"_ts": 5})
			return err
		},
		"upsert": func(c *mongo.Collection) error {
			_, err := c.UpdateOne(ctx, m{"_id": 9}, m{"$setOnInsert": m{"_ts": 5}}, options.UpdateOne().SetUpsert(true))
			return err
		},
		"FindOneAndUpdate": func(c *mongo.Collection) error {
			return c.FindOneAndUpdate(ctx, one, m{"$set": m{"_ts": 5}}).Err()
		},
		"FindOneAndReplace": func(c *mongo.Collection) error {
			return c.FindOneAndReplace(ctx, one, m{"_ts": 5}).Err()
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			coll := freshTTL(t)
			insert(t, coll, bson.D{{"_id", 1}, {"a", 1}})
			err := write(coll)
			refused(t, err, 2)
			if !strings.Contains(err.Error(), "_ts") || !strings.Contains(err.Error(), "reserved") {
				t.Fatal(err)
			}
			equal(t, find(t, coll, m{}), `[{"_id": 1, "a": 1}]`)
		})
	}
}

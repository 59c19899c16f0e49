// The breadth of daily work through this driver.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func numbers(t *testing.T) *mongo.Collection {
	t.Helper()
	coll := fresh(t)
	var documents []any
	for n := range 250 {
		documents = append(documents, bson.D{{"_id", n}, {"group", n % 3}, {"name", fmt.Sprintf("n%03d", n)}})
	}
	insert(t, coll, documents...)
	return coll
}

func failedAt(t *testing.T, err error) bson.A {
	t.Helper()
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) {
		t.Fatal(err)
	}
	at := bson.A{}
	for _, failure := range bulk.WriteErrors {
		equal(t, failure.Code, `11000`)
		at = append(at, failure.Index)
	}
	return at
}

func TestInsertManyOrderedStopsAtADuplicate(t *testing.T) {
	coll := fresh(t)
	_, err := coll.InsertMany(ctx, []any{m{"_id": 1}, m{"_id": 2}, m{"_id": 1}, m{"_id": 3}})
	equal(t, failedAt(t, err), `[2]`)
	equal(t, distinct(t, coll), `[1, 2]`)
}

func TestInsertManyUnorderedGoesOn(t *testing.T) {
	coll := fresh(t)
	documents := []any{m{"_id": 1}, m{"_id": 1}, m{"_id": 2}, m{"_id": 2}, m{"_id": 3}}
	_, err := coll.InsertMany(ctx, documents, options.InsertMany().SetOrdered(false))
	equal(t, failedAt(t, err), `[1, 3]`)
	equal(t, distinct(t, coll), `[1, 2, 3]`)
}

func TestBulkWrite(t *testing.T) {
	coll := fresh(t)
	result, err := coll.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(bson.D{{"_id", 1}, {"a", 1}}),
		mongo.NewInsertOneModel().SetDocument(bson.D{{"_id", 2}, {"a", 2}}),
		mongo.NewUpdateOneModel().SetFilter(m{"_id": 1}).SetUpdate(m{"$inc": m{"a": 10}}),
		mongo.NewReplaceOneModel().SetFilter(m{"_id": 2}).SetReplacement(m{"b": 2}),
		mongo.NewUpdateOneModel().SetFilter(m{"_id": 3}).SetUpdate(m{"$set": m{"c": 3}}).SetUpsert(true),
		mongo.NewDeleteOneModel().SetFilter(m{"_id": 2}),
	})
	must(t, err)
	equal(t, bson.A{result.InsertedCount, result.ModifiedCount, result.DeletedCount, result.UpsertedIDs[4]}, `[2, 2, 1, 3]`)
	equal(t, find(t, coll, m{}), `[{"_id": 1, "a": 11}, {"_id": 3, "c": 3}]`)
}

func TestACursorOverSeveralBatches(t *testing.T) {
	coll := numbers(t)
	cursor, err := coll.Find(ctx, m{}, options.Find().SetSort(m{"_id": 1}).SetBatchSize(7))
	must(t, err)
	defer cursor.Close(ctx)
	for n := range 250 {
		if !cursor.Next(ctx) || cursor.Current.Lookup("_id").Int32() != int32(n) {
			t.Fatal(n, cursor.Current, cursor.Err())
		}
	}
	cursor, err = coll.Find(ctx, m{}, options.Find().SetBatchSize(2).SetLimit(5))
	equal(t, len(all(t, cursor, err)), `5`)
	cursor, err = coll.Aggregate(ctx, bson.A{m{"$match": m{}}}, options.Aggregate().SetBatchSize(7))
	equal(t, len(all(t, cursor, err)), `250`)
}

func TestSortSkipLimitAndProjection(t *testing.T) {
	coll := numbers(t)
	wanted := options.Find().SetSort(m{"name": -1}).SetSkip(1).SetLimit(2).SetProjection(bson.D{{"name", 1}, {"_id", 0}})
	cursor, err := coll.Find(ctx, m{"group": 1}, wanted)
	equal(t, all(t, cursor, err), `[{"name": "n244"}, {"name": "n241"}]`)
	_, err = coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{"group", 1}, {"name", -1}}})
	must(t, err)
	cursor, err = coll.Find(ctx, m{"group": 1}, wanted)
	equal(t, all(t, cursor, err), `[{"name": "n244"}, {"name": "n241"}]`)
}

func TestUpdateManyAndDeleteMany(t *testing.T) {
	coll := numbers(t)
	updated, err := coll.UpdateMany(ctx, m{"group": 0}, bson.D{{"$set", m{"seen": true}}, {"$push", m{"tags": "x"}}})
	must(t, err)
	equal(t, bson.A{updated.MatchedCount, updated.ModifiedCount, count(t, coll, m{"tags": "x"})}, `[84, 84, 84]`)
	deleted, err := coll.DeleteMany(ctx, m{"group": m{"$in": bson.A{1, 2}}})
	must(t, err)
	equal(t, deleted.DeletedCount, `166`)
}

func TestFindOneAndUpdate(t *testing.T) {
	coll := numbers(t)
	var found bson.D
	must(t, coll.FindOneAndUpdate(ctx, m{"_id": 5}, m{"$set": m{"name": "five"}}).Decode(&found))
	equal(t, found, `{"_id": 5, "group": 2, "name": "n005"}`)
	found = nil
	must(t, coll.FindOneAndUpdate(ctx, m{"group": 2}, m{"$inc": m{"hits": 1}}, options.FindOneAndUpdate().
		SetSort(m{"_id": -1}).SetProjection(m{"hits": 1}).SetReturnDocument(options.After)).Decode(&found))
	equal(t, found, `{"_id": 248, "hits": 1}`)
}

func TestAggregateWithGroupAndLookup(t *testing.T) {
	coll := numbers(t)
	insert(t, coll.Database().Collection("groups"), bson.D{{"_id", 0}, {"title", "zero"}}, bson.D{{"_id", 1}, {"title", "one"}})
	cursor, err := coll.Aggregate(ctx, mongo.Pipeline{
		{{"$group", bson.D{{"_id", "$group"}, {"n", m{"$sum": 1}}, {"top", m{"$max": "$name"}}}}},
		{{"$lookup", bson.D{{"from", "groups"}, {"localField", "_id"}, {"foreignField", "_id"}, {"as", "g"}}}},
		{{"$project", bson.D{{"n", 1}, {"top", 1}, {"titles", "$g.title"}}}},
		{{"$sort", m{"_id": 1}}},
	})
	equal(t, all(t, cursor, err), `[
		{"_id": 0, "n": 84, "top": "n249", "titles": ["zero"]},
		{"_id": 1, "n": 83, "top": "n247", "titles": ["one"]},
		{"_id": 2, "n": 83, "top": "n248", "titles": []}]`)
}

func TestAnExplicitSession(t *testing.T) {
	coll := fresh(t)
	must(t, client.UseSession(ctx, func(session context.Context) error {
		if _, err := coll.InsertOne(session, m{"_id": 1}); err != nil {
			return err
		}
		return coll.FindOne(session, m{"_id": 1}).Err()
	}))
	equal(t, estimated(t, coll), `1`)
}

func TestCompression(t *testing.T) {
	for _, compressor := range []string{"zlib", "snappy", "zstd"} {
		t.Run(compressor, func(t *testing.T) {
			coll := fresh(t)
			other, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("EBB_URI") + "/?compressors=" + compressor))
			must(t, err)
			defer other.Disconnect(ctx)
			compressed := other.Database(coll.Database().Name()).Collection(coll.Name())
			long := strings.Repeat("compressible ", 10_000)
			for n := range 20 {
				insert(t, compressed, m{"_id": n, "text": long})
			}
			cursor, err := compressed.Find(ctx, m{"text": long}, options.Find().SetBatchSize(3))
			equal(t, len(all(t, cursor, err)), `20`)
			reply := command(t, "admin", bson.D{{"hello", 1}, {"compression", bson.A{compressor}}})
			equal(t, reply.Lookup("compression"), `["`+compressor+`"]`)
		})
	}
}

func TestDatabasesAndCollectionsAreListedAndDropped(t *testing.T) {
	db := fresh(t).Database()
	must(t, db.CreateCollection(ctx, "made"))
	insert(t, db.Collection("other"), m{"_id": 1})
	names, err := db.ListCollectionNames(ctx, m{})
	must(t, err)
	slices.Sort(names)
	equal(t, names, `["made", "other"]`)
	databases, err := client.ListDatabaseNames(ctx, m{})
	must(t, err)
	equal(t, slices.Contains(databases, db.Name()), `true`)
	must(t, db.Collection("made").Drop(ctx))
	names, err = db.ListCollectionNames(ctx, m{})
	must(t, err)
	equal(t, names, `["other"]`)
	must(t, db.Drop(ctx))
	databases, err = client.ListDatabaseNames(ctx, m{})
	must(t, err)
	equal(t, slices.Contains(databases, db.Name()), `false`)
}

func TestTheTTLPassesOfServerStatusGrow(t *testing.T) {
	passes := func() int64 {
		return command(t, "admin", bson.D{{"serverStatus", 1}}).Lookup("metrics", "ttl", "passes").AsInt64()
	}
	before, giveUp := passes(), time.Now().Add(30*time.Second)
	for passes() < before+2 {
		if time.Now().After(giveUp) {
			t.Fatal("the housekeeping does not run")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

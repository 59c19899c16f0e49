// Package drivers holds EbbDB's tests through the Go driver. This file: one client, a fresh database per
// test, the manual clock, and comparisons.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

type m = bson.M

// How long the driver may take to connect on a busy machine, and when a refused connection is given up.
const (
	patience = 30 * time.Second
	refusal  = 2 * time.Second
)

var (
	ctx     = context.Background()
	client  *mongo.Client
	replies = map[string]bson.Raw{} // the last reply of each command; helpers throw them away
)

func TestMain(main *testing.M) {
	monitor := &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
		replies[e.CommandName] = append(bson.Raw{}, e.Reply...)
	}}
	var err error
	client, err = mongo.Connect(options.Client().ApplyURI(os.Getenv("EBB_URI")).SetMonitor(monitor))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := main.Run()
	_ = client.Disconnect(ctx)
	os.Exit(status)
}

// fresh empties the database and starts the test at the top of a second, which lifetimes on _ts count.
func fresh(t *testing.T) *mongo.Collection {
	t.Helper()
	coll := client.Database("go").Collection("coll")
	must(t, coll.Database().Drop(ctx))
	if now := clock(t); now.Nanosecond() != 0 {
		whole := now.Truncate(time.Second).Add(time.Second)
		must(t, client.Database("admin").RunCommand(ctx, bson.D{{"ebbClock", 1}, {"set", whole}}).Err())
	}
	return coll
}

// freshTTL is fresh with the TTL index on _ts at 10 seconds.
func freshTTL(t *testing.T) *mongo.Collection {
	t.Helper()
	coll := fresh(t)
	ttlIndex(t, coll, 10)
	return coll
}

func ttlIndex(t *testing.T, coll *mongo.Collection, seconds int32) {
	t.Helper()
	name, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys:    bson.D{{"_ts", 1}},
		Options: options.Index().SetExpireAfterSeconds(seconds),
	})
	must(t, err)
	equal(t, name, `"_ts_1"`)
}

func clock(t *testing.T) time.Time {
	t.Helper()
	return command(t, "admin", bson.D{{"ebbClock", 1}}).Lookup("now").Time()
}

func advance(t *testing.T, seconds float64) {
	t.Helper()
	command(t, "admin", bson.D{{"ebbClock", 1}, {"advanceSeconds", seconds}})
}

func command(t *testing.T, database string, body bson.D) bson.Raw {
	t.Helper()
	reply, err := client.Database(database).RunCommand(ctx, body).Raw()
	must(t, err)
	return reply
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal compares with a value written as relaxed Extended JSON.
func equal(t *testing.T, got any, want string) {
	t.Helper()
	var wanted bson.D
	must(t, bson.UnmarshalExtJSON([]byte(`{"v":`+want+`}`), false, &wanted))
	left, err := bson.MarshalExtJSON(bson.D{{"v", got}}, false, false)
	must(t, err)
	right, err := bson.MarshalExtJSON(wanted, false, false)
	must(t, err)
	if string(left) != string(right) {
		t.Fatalf("\n got %s\nwant %s", left, right)
	}
}

// refused asserts that the server answered this error code.
func refused(t *testing.T, err error, code int) {
	t.Helper()
	var server mongo.ServerError
	if !errors.As(err, &server) || !server.HasErrorCode(code) {
		t.Fatalf("wanted error %d, got %v", code, err)
	}
}

func insert(t *testing.T, coll *mongo.Collection, documents ...any) {
	t.Helper()
	_, err := coll.InsertMany(ctx, documents)
	must(t, err)
}

func all(t *testing.T, cursor *mongo.Cursor, err error) []bson.D {
	t.Helper()
	must(t, err)
	found := []bson.D{}
	must(t, cursor.All(ctx, &found))
	return found
}

func find(t *testing.T, coll *mongo.Collection, filter any) []bson.D {
	t.Helper()
	cursor, err := coll.Find(ctx, filter, options.Find().SetSort(m{"_id": 1}))
	return all(t, cursor, err)
}

func ids(t *testing.T, documents []bson.D) bson.A {
	t.Helper()
	names := bson.A{}
	for _, document := range documents {
		names = append(names, document[0].Value)
	}
	return names
}

func distinct(t *testing.T, coll *mongo.Collection) bson.A {
	t.Helper()
	values := bson.A{}
	must(t, coll.Distinct(ctx, "_id", m{}).Decode(&values))
	return values
}

func count(t *testing.T, coll *mongo.Collection, filter any) int64 {
	t.Helper()
	n, err := coll.CountDocuments(ctx, filter)
	must(t, err)
	return n
}

func estimated(t *testing.T, coll *mongo.Collection) int64 {
	t.Helper()
	n, err := coll.EstimatedDocumentCount(ctx)
	must(t, err)
	return n
}

// everywhere asserts the same documents on every path that reads.
func everywhere(t *testing.T, coll *mongo.Collection, names string) {
	t.Helper()
	paris := m{"location": "Paris"}
	equal(t, ids(t, find(t, coll, m{})), names)
	equal(t, ids(t, find(t, coll, paris)), names)
	equal(t, distinct(t, coll), names)
	cursor, err := coll.Aggregate(ctx, bson.A{m{"$match": paris}, m{"$sort": m{"_id": 1}}})
	equal(t, ids(t, all(t, cursor, err)), names)
	var n int64 = int64(len(find(t, coll, m{})))
	equal(t, bson.A{count(t, coll, m{}), count(t, coll, paris), estimated(t, coll)}, fmt.Sprintf("[%d,%d,%d]", n, n, n))
	cursor, err = coll.Aggregate(ctx, bson.A{m{"$group": m{"_id": nil, "n": m{"$sum": 1}}}})
	if groups := all(t, cursor, err); n == 0 {
		equal(t, groups, `[]`)
	} else {
		equal(t, groups, fmt.Sprintf(`[{"_id": null, "n": %d}]`, n))
	}
	if err := coll.FindOne(ctx, paris).Err(); (err == nil) != (n > 0) || (n == 0 && !errors.Is(err, mongo.ErrNoDocuments)) {
		t.Fatalf("FindOne: %v beside %d documents", err, n)
	}
}

type cell struct {
	Default   *int32 `bson:"default"`
	TTL       *int32 `bson:"ttl"`
	DiesAfter *int32 `bson:"diesAfter"`
}

type expectations struct {
	Matrix  []cell   `bson:"matrix"`
	Odd     []bson.D `bson:"ttlWithoutMeaning"`
	Refused []struct {
		Value any `bson:"value"`
	} `bson:"refusedExpireAfterSeconds"`
	Logins struct {
		Mechanisms    []string `bson:"mechanisms"`
		WrongPassword int      `bson:"wrongPassword"`
		MissingRight  int      `bson:"missingRight"`
	} `bson:"logins"`
}

func expected(t *testing.T) (table expectations) {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("EBB_EXPECTATIONS"))
	must(t, err)
	must(t, bson.UnmarshalExtJSON(text, false, &table))
	return table
}

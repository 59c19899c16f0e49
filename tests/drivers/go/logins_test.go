// Logging in: both mechanisms, a wrong password, and a right that is missing.
package drivers

import (
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const rightPassword = "ann’s password"

// login connects as a user; an empty mechanism is the one that is agreed on.
func login(t *testing.T, credential *options.Credential) *mongo.Client {
	t.Helper()
	return connected(t, options.Client().ApplyURI(os.Getenv("EBB_LOGIN_URI")), credential)
}

// connected connects until the end of the test; without a credential nobody logs in.
func connected(t *testing.T, settings *options.ClientOptions, credential *options.Credential) *mongo.Client {
	t.Helper()
	if credential != nil {
		settings.SetAuth(*credential)
	}
	client, err := mongo.Connect(settings)
	must(t, err)
	t.Cleanup(func() { _ = client.Disconnect(ctx) })
	return client
}

func ann(mechanism, password string) *options.Credential {
	return &options.Credential{AuthMechanism: mechanism, AuthSource: "go", Username: "ann", Password: password}
}

func root(source string) *options.Credential {
	return &options.Credential{AuthSource: source, Username: "root", Password: os.Getenv("EBB_LOGIN_PASSWORD")}
}

// withAnn makes a user who may read the database go, and removes her in the end.
func withAnn(t *testing.T) {
	t.Helper()
	root := login(t, root("admin")).Database("go")
	must(t, root.Collection("coll").Drop(ctx))
	insert(t, root.Collection("coll"), m{"_id": 1})
	made := bson.D{{"createUser", "ann"}, {"pwd", rightPassword}, {"roles", bson.A{"read"}}}
	must(t, root.RunCommand(ctx, made).Err())
	t.Cleanup(func() { must(t, root.RunCommand(ctx, m{"dropAllUsersFromDatabase": 1}).Err()) })
}

func TestLogins(t *testing.T) {
	withAnn(t)
	wanted := expected(t).Logins
	for _, mechanism := range append(wanted.Mechanisms, "") {
		t.Run("right "+mechanism, func(t *testing.T) {
			client := login(t, ann(mechanism, rightPassword))
			coll := client.Database("go").Collection("coll")
			equal(t, find(t, coll, m{}), `[{"_id": 1}]`)
			_, err := coll.InsertOne(ctx, m{})
			refused(t, err, wanted.MissingRight)
			refused(t, client.Database("other").Collection("coll").FindOne(ctx, m{}).Err(), wanted.MissingRight)
		})
		t.Run("wrong "+mechanism, func(t *testing.T) {
			err := login(t, ann(mechanism, "wrong")).Ping(ctx, nil)
			if err == nil || !strings.Contains(err.Error(), "auth error") || !strings.Contains(err.Error(), "AuthenticationFailed") {
				t.Fatalf("wanted an error of the login, got %v", err)
			}
			refused(t, err, wanted.WrongPassword)
		})
	}
}

func TestAUserOfTheOlderMechanismAlone(t *testing.T) {
	withAnn(t)
	only := bson.A{expected(t).Logins.Mechanisms[0]}
	made := bson.D{{"createUser", "old"}, {"pwd", "pw"}, {"roles", bson.A{}}, {"mechanisms", only}}
	must(t, login(t, root("admin")).Database("go").RunCommand(ctx, made).Err())
	old := &options.Credential{AuthSource: "go", Username: "old", Password: "pw"}
	must(t, login(t, old).Ping(ctx, nil))
}

// The driver asks about the mechanisms of ".root" then, and logs in at admin.
func TestALoginThatNamesNoDatabase(t *testing.T) {
	must(t, login(t, root("")).Ping(ctx, nil))
}

func TestWhoDoesNotLogInIsTold(t *testing.T) {
	err := login(t, nil).Database("go").Collection("coll").FindOne(ctx, m{}).Err()
	refused(t, err, expected(t).Logins.MissingRight)
}

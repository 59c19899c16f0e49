// TLS, and logging in with a certificate: who is let in, and what the others are told.
package drivers

import (
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const subjectOfAnn = "CN=ann,OU=drivers,O=ebb"

// overTLS connects with TLS and believes an authority; an empty certificate shows none.
func overTLS(t *testing.T, authority, certificate string, credential *options.Credential) *mongo.Client {
	t.Helper()
	files := os.Getenv("EBB_TLS")
	uri := os.Getenv("EBB_LOGIN_URI") + "/?tls=true&tlsCAFile=" + filepath.Join(files, authority+".pem")
	if certificate != "" {
		uri += "&tlsCertificateKeyFile=" + filepath.Join(files, certificate+".pem")
	}
	within := patience
	if authority == "other" {
		within = refusal
	}
	settings := options.Client().ApplyURI(uri).SetServerSelectionTimeout(within)
	return connected(t, settings, credential)
}

func withCertificate(t *testing.T, name string) *mongo.Client {
	t.Helper()
	return overTLS(t, "ca", name, &options.Credential{AuthMechanism: "MONGODB-X509"})
}

func TestCertificates(t *testing.T) {
	wanted := expected(t).Logins
	root := overTLS(t, "ca", "", root("admin"))
	insert(t, root.Database("tls").Collection("coll"), m{"_id": 1})
	roles := bson.A{m{"role": "read", "db": "tls"}}
	external := root.Database("$external")
	must(t, external.RunCommand(ctx, bson.D{{"createUser", subjectOfAnn}, {"roles", roles}}).Err())
	t.Cleanup(func() { must(t, external.RunCommand(ctx, m{"dropAllUsersFromDatabase": 1}).Err()) })

	t.Run("a user logs in with her certificate", func(t *testing.T) {
		client := withCertificate(t, "ann")
		equal(t, find(t, client.Database("tls").Collection("coll"), m{}), `[{"_id": 1}]`)
		_, err := client.Database("tls").Collection("coll").InsertOne(ctx, m{})
		refused(t, err, wanted.MissingRight)
		refused(t, client.Database("other").Collection("coll").FindOne(ctx, m{}).Err(), wanted.MissingRight)
	})
	t.Run("a certificate that no user has is refused", func(t *testing.T) {
		refused(t, withCertificate(t, "eve").Ping(ctx, nil), wanted.WrongPassword)
	})
	// The driver does not show one whose authority the server has not named.
	t.Run("a certificate of another authority is refused", func(t *testing.T) {
		refused(t, withCertificate(t, "stranger").Ping(ctx, nil), wanted.WrongPassword)
	})
	t.Run("passwords and TLS, and a server that is not believed", func(t *testing.T) {
		for _, mechanism := range wanted.Mechanisms {
			credential := &options.Credential{
				AuthMechanism: mechanism, Username: "root", Password: os.Getenv("EBB_LOGIN_PASSWORD"),
			}
			must(t, overTLS(t, "ca", "", credential).Ping(ctx, nil))
		}
		err := overTLS(t, "other", "", nil).Ping(ctx, nil)
		if !mongo.IsTimeout(err) && !mongo.IsNetworkError(err) {
			t.Fatalf("wanted no connection, got %v", err)
		}
	})
}

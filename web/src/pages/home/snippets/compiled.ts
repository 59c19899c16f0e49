// First programs in Go and Rust.
import { endpoint, mongoUri } from '../../../pure/address';
import type { Platform } from './snippet';

export const go: Platform = {
  key: 'go',
  label: 'Go',
  mongo: (address) => ({
    title: 'mongo-driver',
    install: 'go get go.mongodb.org/mongo-driver/v2/mongo',
    code: `package main

import (
	"context"
	"log"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func main() {
	ctx := context.Background()
	client, err := mongo.Connect(options.Client().ApplyURI("${mongoUri(address)}"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Disconnect(ctx)
	sessions := client.Database("app").Collection("sessions")
	_, err = sessions.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys:    bson.D{{Key: "_ts", Value: 1}},
		Options: options.Index().SetExpireAfterSeconds(3600), // an hour after the last write
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = sessions.InsertMany(ctx, []any{
		bson.M{"user": "ada"},              // expires in an hour
		bson.M{"user": "bob", "ttl": 60},   // expires in a minute
		bson.M{"user": "root", "ttl": -1},  // never expires
	})
	if err != nil {
		log.Fatal(err)
	}
}
`,
  }),
  nosql: (address, key) => ({
    title: 'azcosmos',
    install: 'go get github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos',
    code: `package main

import (
	"context"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func main() {
	ctx := context.Background()
	credential, err := azcosmos.NewKeyCredential("${key}")
	check(err)
	client, err := azcosmos.NewClientWithKey("${endpoint(address)}", credential, nil)
	check(err)
	// Both may be there already.
	_, _ = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "app"}, nil)
	database, err := client.NewDatabase("app")
	check(err)
	hour := int32(3600) // after the last write
	_, _ = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "sessions",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/user"}, Version: 2},
		DefaultTimeToLive:      &hour,
	}, nil)
	sessions, err := database.NewContainer("sessions")
	check(err)
	bob := azcosmos.NewPartitionKeyString("bob")
	item := []byte(\`{"id": "2", "user": "bob", "ttl": 60}\`) // expires in a minute
	_, err = sessions.UpsertItem(ctx, bob, item, nil)
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
`,
  }),
};

export const rust: Platform = {
  key: 'rust',
  label: 'Rust',
  mongo: (address) => ({
    title: 'mongodb',
    install: 'cargo add mongodb && cargo add tokio --features macros,rt-multi-thread',
    code: `use std::time::Duration;

use mongodb::bson::{doc, Document};
use mongodb::options::IndexOptions;
use mongodb::{Client, IndexModel};

#[tokio::main]
async fn main() -> mongodb::error::Result<()> {
    let client = Client::with_uri_str("${mongoUri(address)}").await?;
    let sessions = client.database("app").collection::<Document>("sessions");
    let hour = IndexOptions::builder().expire_after(Duration::from_secs(3600)).build();
    let index = IndexModel::builder().keys(doc! { "_ts": 1 }).options(hour).build();
    sessions.create_index(index).await?; // an hour after the last write
    sessions
        .insert_many([
            doc! { "user": "ada" },             // expires in an hour
            doc! { "user": "bob", "ttl": 60 },  // expires in a minute
            doc! { "user": "root", "ttl": -1 }, // never expires
        ])
        .await?;
    println!("{} are alive", sessions.count_documents(doc! {}).await?);
    Ok(())
}
`,
  }),
  nosql: (address, key) => ({
    title: 'azure_data_cosmos',
    install:
      'cargo add azure_data_cosmos@1.1.0-beta.1 --features key_auth,control_plane && ' +
      'cargo add serde_json && cargo add tokio --features macros,rt-multi-thread',
    code: `use azure_data_cosmos::models::{ContainerProperties, PartitionKeyDefinition};
use azure_data_cosmos::options::Region;
use azure_data_cosmos::{AccountReference, CosmosClient, RoutingStrategy};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let account = AccountReference::with_authentication_key(
        "${endpoint(address)}".parse()?,
        "${key}".to_owned(),
    );
    let nearest = RoutingStrategy::ProximityTo(Region::from("South Central US"));
    let client = CosmosClient::builder().build(account, nearest).await?;
    let _ = client.create_database("app", None).await; // it may be there already
    let database = client.database_client("app");
    let user = PartitionKeyDefinition::new(vec!["/user".into()]);
    let sessions = ContainerProperties::new("sessions".to_owned(), user).with_default_ttl(3600);
    let _ = database.create_container(sessions, None).await; // so may this
    let sessions = database.container_client("sessions", None).await?;
    let bob = json!({ "id": "2", "user": "bob", "ttl": 60 }); // expires in a minute
    sessions.upsert_item("bob", "2", &bob, None).await?;
    Ok(())
}
`,
  }),
};

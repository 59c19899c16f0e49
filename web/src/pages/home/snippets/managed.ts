// First programs in Java and C#. The Java SDK of the NoSQL API supports only TLS.
import { endpoint, mongoUri, secureEndpoint } from '../../../pure/address';
import type { Platform } from './snippet';

export const java: Platform = {
  key: 'java',
  label: 'Java',
  mongo: (address) => ({
    title: 'mongodb-driver-sync',
    install: 'Maven: org.mongodb:mongodb-driver-sync',
    code: `import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

public class First {
  public static void main(String[] args) {
    try (MongoClient client = MongoClients.create("${mongoUri(address)}")) {
      MongoCollection<Document> sessions = client.getDatabase("app").getCollection("sessions");
      // An hour after the last write.
      sessions.createIndex(new Document("_ts", 1), new IndexOptions().expireAfter(3600L, TimeUnit.SECONDS));
      sessions.insertMany(List.of(
          new Document("user", "ada"),                       // expires in an hour
          new Document("user", "bob").append("ttl", 60),     // expires in a minute
          new Document("user", "root").append("ttl", -1)));  // never expires
      System.out.println(sessions.countDocuments() + " are alive");
    }
  }
}
`,
  }),
  nosql: (address, key) => ({
    title: 'azure-cosmos',
    install: 'Maven: com.azure:azure-cosmos',
    code: `// First trust the certificate:
//   ebb cert export ebb.pem --cosmos-addr ${secureEndpoint(address).slice('https://'.length, -1)}
//   keytool -importcert -noprompt -alias ebb -file ebb.pem -keystore ebb.p12 -storepass changeit
//   java -Djavax.net.ssl.trustStore=ebb.p12 -Djavax.net.ssl.trustStorePassword=changeit ...
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosContainerProperties;
import java.util.Map;

public class First {
  public static void main(String[] args) {
    try (CosmosClient client = new CosmosClientBuilder()
        .endpoint("${secureEndpoint(address)}")
        .key("${key}")
        .buildClient()) {
      client.createDatabaseIfNotExists("app");
      client.getDatabase("app").createContainerIfNotExists(
          new CosmosContainerProperties("sessions", "/user")
              .setDefaultTimeToLiveInSeconds(3600));  // an hour after the last write
      CosmosContainer sessions = client.getDatabase("app").getContainer("sessions");
      sessions.upsertItem(Map.of("id", "1", "user", "ada"));               // expires in an hour
      sessions.upsertItem(Map.of("id", "2", "user", "bob", "ttl", 60));    // expires in a minute
      sessions.upsertItem(Map.of("id", "3", "user", "root", "ttl", -1));   // never expires
    }
  }
}
`,
  }),
};

export const csharp: Platform = {
  key: 'csharp',
  label: 'C#',
  mongo: (address) => ({
    title: 'MongoDB.Driver',
    install: 'dotnet add package MongoDB.Driver',
    code: `using MongoDB.Bson;
using MongoDB.Driver;

var client = new MongoClient("${mongoUri(address)}");
var sessions = client.GetDatabase("app").GetCollection<BsonDocument>("sessions");
await sessions.Indexes.CreateOneAsync(new CreateIndexModel<BsonDocument>(
    Builders<BsonDocument>.IndexKeys.Ascending("_ts"),
    new CreateIndexOptions { ExpireAfter = TimeSpan.FromHours(1) })); // after the last write
await sessions.InsertManyAsync(new[]
{
    new BsonDocument { { "user", "ada" } },                 // expires in an hour
    new BsonDocument { { "user", "bob" }, { "ttl", 60 } },  // expires in a minute
    new BsonDocument { { "user", "root" }, { "ttl", -1 } }, // never expires
});
`,
  }),
  nosql: (address, key) => ({
    title: 'Microsoft.Azure.Cosmos',
    install: 'dotnet add package Microsoft.Azure.Cosmos && dotnet add package Newtonsoft.Json',
    code: `using Microsoft.Azure.Cosmos;

// Without the last setting the system has to trust the certificate: ebb cert export.
var client = new CosmosClient(
    "AccountEndpoint=${endpoint(address)};AccountKey=${key};DisableServerCertificateValidation=True");
Database database = await client.CreateDatabaseIfNotExistsAsync("app");
Container sessions = await database.CreateContainerIfNotExistsAsync(
    new ContainerProperties("sessions", "/user") { DefaultTimeToLive = 3600 }); // after the last write
await sessions.UpsertItemAsync(new { id = "1", user = "ada" });            // expires in an hour
await sessions.UpsertItemAsync(new { id = "2", user = "bob", ttl = 60 });  // expires in a minute
await sessions.UpsertItemAsync(new { id = "3", user = "root", ttl = -1 }); // never expires
`,
  }),
};

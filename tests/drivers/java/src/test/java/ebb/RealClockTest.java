// The one test on the machine's own clock, against a server of its own.
package ebb;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Indexes.ascending;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RealClockTest {
  @Test
  @Timeout(10)
  void realClockATtlOfOneSecond() throws InterruptedException {
    try (MongoClient real = MongoClients.create(System.getenv("EBB_SYSTEM_URI"))) {
      MongoCollection<Document> coll = real.getDatabase("java_real_clock").getCollection("coll");
      coll.createIndex(ascending("_ts"), new IndexOptions().expireAfter(1L, TimeUnit.HOURS));
      coll.insertMany(List.of(new Document("_id", 1).append("ttl", 1), new Document("_id", 2)));
      while (coll.find(eq("_id", 1)).first() != null) {
        Thread.sleep(20);
      }
      assertEquals(1, coll.countDocuments());
      assertEquals(1, coll.estimatedDocumentCount());
      assertEquals(2, coll.find().first().get("_id"));
      coll.insertOne(new Document("_id", 1));
    }
  }
}

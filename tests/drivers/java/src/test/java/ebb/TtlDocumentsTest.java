// Documents with their own ttl: the examples, the matrix, and values without meaning.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TtlDocumentsTest extends Ebb {
  static Document inParis(String id, Object ttl) {
    return new Document("_id", id).append("id", 1).append("location", "Paris").append("ttl", ttl);
  }

  @Test
  void validValuesDieAfter20SecondsAndInvalidOnesAfter10() {
    ttlIndex(10);
    insert(inParis("double", 20.0), inParis("int32", 20), inParis("int64", 20L),
        inParis("fraction", 20.5), inParis("too large", 2147483649L));

    advance(9);
    everywhere("double", "int32", "int64", "fraction", "too large");
    advance(1);
    everywhere("double", "int32", "int64");
    assertNull(coll.find(new Document("_id", "fraction")).first());
    assertNull(coll.find(new Document("_id", "too large")).first());
    advance(9);
    everywhere("double", "int32", "int64");
    advance(1);
    everywhere();
  }

  @Test
  void theDeadlineIsExactToTheMillisecond() {
    ttlIndex(10);
    insert(doc("{_id: 1, location: 'Paris'}"));
    advance(9.999);
    everywhere(1);
    advance(0.001);
    everywhere();
  }

  @Test
  void theClockMovesThroughTheAdminAddressToo() throws Exception {
    ttlIndex(10);
    insert(doc("{_id: 1, location: 'Paris'}"));
    post("{\"advance_seconds\": 9}");
    everywhere(1);
    post("{\"advance_seconds\": 1}");
    everywhere();
  }

  static void post(String body) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("EBB_ADMIN") + "/_ebb/clock"))
        .header("content-type", "application/json").POST(BodyPublishers.ofString(body)).build();
    assertEquals(200, HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode());
  }

  static Stream<Document> cells() {
    return expected().getList("matrix", Document.class).stream();
  }

  @ParameterizedTest
  @MethodSource("cells")
  void matrix(Document cell) {
    if (cell.get("default") != null) {
      ttlIndex(cell.getInteger("default"));
    }
    Document document = doc("{_id: 1, location: 'Paris'}");
    if (cell.get("ttl") != null) {
      document.append("ttl", cell.get("ttl"));
    }
    insert(document);
    if (cell.get("diesAfter") == null) {
      advance(100.0 * 365 * 86_400);
      everywhere(1);
      assertEquals(document, coll.find().first());
    } else {
      advance(cell.getInteger("diesAfter") - 1);
      everywhere(1);
      advance(1);
      everywhere();
    }
  }

  @Test
  void valuesWithoutMeaningAreStoredAndTheDefaultCounts() {
    ttlIndex(10);
    List<Document> documents = new ArrayList<>();
    for (Document fields : expected().getList("ttlWithoutMeaning", Document.class)) {
      Document document = new Document("_id", documents.size()).append("location", "Paris");
      document.putAll(fields);
      documents.add(document);
    }
    coll.insertMany(documents);
    advance(9);
    assertEquals(documents, all());
    advance(1);
    everywhere();
  }
}

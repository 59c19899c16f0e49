// The change feed processor, which keeps its position in items of a container of leases.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.ChangeFeedProcessor;
import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosAsyncDatabase;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.ChangeFeedProcessorItem;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProcessorTest extends Ebb {
  final BlockingQueue<ChangeFeedProcessorItem> seen = new LinkedBlockingQueue<>();

  ChangeFeedProcessor processor(CosmosAsyncDatabase there) {
    return new ChangeFeedProcessorBuilder()
        .hostName("host")
        .feedContainer(there.getContainer("c"))
        .leaseContainer(there.getContainer("leases"))
        .options(new ChangeFeedProcessorOptions().setStartFromBeginning(true).setFeedPollDelay(Duration.ofMillis(50)))
        .handleLatestVersionChanges(seen::addAll)
        .buildChangeFeedProcessor();
  }

  static String id(ChangeFeedProcessorItem item) {
    return item.getCurrent().get("id").asText();
  }

  ChangeFeedProcessorItem next() throws InterruptedException {
    ChangeFeedProcessorItem item = seen.poll(30, TimeUnit.SECONDS);
    assertNotNull(item, "no change in 30 seconds");
    return item;
  }

  /** A processor notes how far it came after its handler returned; what it has not noted comes once more. */
  static void awaitNote(CosmosContainer leases, long lsn) throws InterruptedException {
    Instant until = Instant.now().plusSeconds(30);
    while (query(leases, "SELECT VALUE c.ContinuationToken FROM c WHERE c.ContinuationToken != null").stream()
        .noneMatch(token -> position(token.asText()) >= lsn)) {
      assertTrue(Instant.now().isBefore(until), "the change is not noted within 30 seconds");
      Thread.sleep(20);
    }
  }

  /** The position of the one range of a continuation token, which is JSON in base 64. */
  static long position(String token) {
    String text = new String(Base64.getDecoder().decode(token), StandardCharsets.UTF_8);
    String quoted = json(text).at("/Continuation/Continuation/0/token").asText();
    return Long.parseLong(quoted.replace("\"", ""));
  }

  @Test
  void goesOnWhereItStopped() throws InterruptedException {
    CosmosContainer container = container();
    CosmosContainer leases = create(new CosmosContainerProperties("leases", "/id"));
    put(container, "{'id': '1', 'pk': 'a'}", "{'id': '2', 'pk': 'b'}");
    try (CosmosAsyncClient async = builder(setting("EBB_HTTPS_ENDPOINT")).key(setting("EBB_KEY")).buildAsyncClient()) {
      CosmosAsyncDatabase there = async.getDatabase(database.getId());
      ChangeFeedProcessor first = processor(there);
      first.start().block();
      assertEquals(List.of("1", "2"), List.of(id(next()), id(next())));
      put(container, "{'id': '3', 'pk': 'a'}");
      ChangeFeedProcessorItem third = next();
      assertEquals("3", id(third));
      awaitNote(leases, third.getChangeFeedMetaData().getLogSequenceNumber());
      first.stop().block();

      put(container, "{'id': '4', 'pk': 'a'}");
      ChangeFeedProcessor second = processor(there);
      second.start().block();
      assertEquals("4", id(next()));
      second.stop().block();
    }
    assertEquals(0, seen.size());
  }
}

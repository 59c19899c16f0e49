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
import java.time.Duration;
import java.time.Instant;
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

  String next() throws InterruptedException {
    ChangeFeedProcessorItem item = seen.poll(30, TimeUnit.SECONDS);
    assertNotNull(item, "no change in 30 seconds");
    return item.getCurrent().get("id").asText();
  }

  /** It notes what was handled after its handler returned; what it has not noted comes once more. */
  static void awaitCaughtUp(ChangeFeedProcessor processor) throws InterruptedException {
    Instant until = Instant.now().plusSeconds(30);
    while (!processor.getCurrentState().block().stream().allMatch(lease -> lease.getEstimatedLag() == 0)) {
      assertTrue(Instant.now().isBefore(until), "changes are not noted within 30 seconds");
      Thread.sleep(20);
    }
  }

  @Test
  void goesOnWhereItStopped() throws InterruptedException {
    CosmosContainer container = container();
    create(new CosmosContainerProperties("leases", "/id"));
    put(container, "{'id': '1', 'pk': 'a'}", "{'id': '2', 'pk': 'b'}");
    try (CosmosAsyncClient async = builder(setting("EBB_HTTPS_ENDPOINT")).key(setting("EBB_KEY")).buildAsyncClient()) {
      CosmosAsyncDatabase there = async.getDatabase(database.getId());
      ChangeFeedProcessor first = processor(there);
      first.start().block();
      assertEquals(List.of("1", "2"), List.of(next(), next()));
      put(container, "{'id': '3', 'pk': 'a'}");
      assertEquals("3", next());
      awaitCaughtUp(first);
      first.stop().block();

      put(container, "{'id': '4', 'pk': 'a'}");
      ChangeFeedProcessor second = processor(there);
      second.start().block();
      assertEquals("4", next());
      second.stop().block();
    }
    assertEquals(0, seen.size());
  }
}

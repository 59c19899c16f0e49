// The one test on the machine's clock.
package ebb;

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;

class RealClockTest extends Ebb {
  @Test
  void realClock() throws InterruptedException {
    try (CosmosClient system = connect(setting("EBB_SYSTEM_ENDPOINT").replace("http:", "https:"), setting("EBB_KEY"))) {
      system.createDatabase("java-real");
      system.getDatabase("java-real").createContainer(new CosmosContainerProperties("c", "/pk").setDefaultTimeToLiveInSeconds(-1));
      CosmosContainer container = system.getDatabase("java-real").getContainer("c");
      put(container, "{'id': '1', 'pk': 'a', 'ttl': 2}");
      equal("{'id': '1', 'pk': 'a', 'ttl': 2}", read(container, "1"));
      Thread.sleep(2000);
      refused(404, 0, NO_ITEM, () -> container.readItem("1", A, JsonNode.class));
      equal("[0]", query(container, "SELECT VALUE COUNT(1) FROM c"));
      system.getDatabase("java-real").delete();
    }
  }
}

// A program with the SDK's defaults: direct mode, and a certificate that the process trusts.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemResponse;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.PartitionKey;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DefaultsTest {
  static final PartitionKey ADA = new PartitionKey("ada");

  @Test
  void withTheDefaults() {
    String endpoint = Ebb.setting("EBB_SYSTEM_ENDPOINT").replace("http://127.0.0.1", "https://localhost");
    try (CosmosClient client = new CosmosClientBuilder()
        .endpoint(endpoint)
        .key(Ebb.setting("EBB_KEY"))
        .buildClient()) {
      journey(client);
    }
  }

  static void journey(CosmosClient client) {
    client.createDatabaseIfNotExists("java-defaults");
    CosmosDatabase database = client.getDatabase("java-defaults");
    CosmosContainerProperties properties = new CosmosContainerProperties("sessions", "/user");
    database.createContainerIfNotExists(properties.setDefaultTimeToLiveInSeconds(3600));
    CosmosContainer sessions = database.getContainer("sessions");
    CosmosItemResponse<?> written = sessions.upsertItem(Map.of("id", "1", "user", "ada"));
    assertTrue(written.getDiagnostics().toString().contains("rntbd://"), () -> written.getDiagnostics().toString());
    assertEquals("ada", sessions.readItem("1", ADA, JsonNode.class).getItem().get("user").asText());
    CosmosBatch batch = CosmosBatch.createCosmosBatch(ADA);
    batch.upsertItemOperation(Map.of("id", "2", "user", "ada", "ttl", 60));
    batch.readItemOperation("1");
    assertTrue(sessions.executeCosmosBatch(batch).isSuccessStatusCode());
    String ids = "SELECT VALUE c.id FROM c ORDER BY c.id";
    assertEquals(2, sessions.queryItems(ids, new CosmosQueryRequestOptions(), String.class).stream().count());
    assertEquals(1, client.queryDatabases("SELECT * FROM c WHERE c.id = 'java-defaults'", null).stream().count());
    CosmosException missing =
        assertThrows(CosmosException.class, () -> sessions.readItem("none", ADA, JsonNode.class));
    assertEquals(404, missing.getStatusCode());
    assertTrue(missing.getDiagnostics().getDuration().compareTo(Duration.ofSeconds(4)) < 0);

    // A container that is created again under the same name is found again.
    sessions.delete();
    database.createContainer(properties);
    sessions.createItem(Map.of("id", "1", "user", "ada"));
    assertEquals(1, sessions.readAllItems(ADA, JsonNode.class).stream().count());
    database.delete();
  }
}

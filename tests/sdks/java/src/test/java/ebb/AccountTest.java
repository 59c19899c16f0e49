// The account: keys, databases, containers, throughput, users and permissions.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosAsyncClient;
import com.azure.cosmos.CosmosAsyncUser;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosContainerResponse;
import com.azure.cosmos.models.CosmosDatabaseResponse;
import com.azure.cosmos.models.CosmosPermissionProperties;
import com.azure.cosmos.models.CosmosUserProperties;
import com.azure.cosmos.models.ExcludedPath;
import com.azure.cosmos.models.IncludedPath;
import com.azure.cosmos.models.IndexingMode;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PermissionMode;
import com.azure.cosmos.models.ThroughputProperties;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

class AccountTest extends Ebb {
  @Test
  void aWrongKeyIsRefused() {
    byte[] wrong = "not the key of this account at all".getBytes(StandardCharsets.UTF_8);
    // The SDK asks for the account first, and wraps what went wrong.
    RuntimeException error = assertThrows(RuntimeException.class, () -> {
      try (CosmosClient intruder =
          connect(setting("EBB_HTTPS_ENDPOINT"), Base64.getEncoder().encodeToString(wrong))) {
        intruder.createDatabase("java-intruder");
      }
    });
    refused(401, 0, "The input authorization token can't serve the request.", () -> {
      throw error instanceof CosmosException ? error : error.getCause();
    });
  }

  @Test
  void databases() {
    assertEquals(200, client.createDatabaseIfNotExists(database.getId()).getStatusCode());
    refused(409, 0, "already exists", () -> client.createDatabase(database.getId()));
    CosmosDatabaseResponse found = database.read();
    assertEquals(database.getId(), found.getProperties().getId());
    assertNotNull(found.getProperties().getResourceId());
    assertNotNull(found.getProperties().getETag());
    assertTrue(found.getProperties().getTimestamp().getEpochSecond() > 0);
    assertTrue(found.getRequestCharge() > 0);
    assertNotNull(found.getActivityId());
    long listed = client.readAllDatabases().stream().filter(one -> one.getId().equals(database.getId())).count();
    assertEquals(1, listed);
    String sql = "SELECT * FROM root r WHERE r.id = '" + database.getId() + "'";
    assertEquals(1, client.queryDatabases(sql, null).stream().count());

    assertEquals(201, client.createDatabaseIfNotExists("java-second").getStatusCode());
    CosmosDatabase second = client.getDatabase("java-second");
    assertEquals(204, second.delete().getStatusCode());
    refused(404, 0, "", second::read);
    refused(404, 0, "", second::delete);
  }

  @Test
  void containers() {
    UniqueKeyPolicy unique = new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/a"))));
    CosmosContainerProperties properties =
        new CosmosContainerProperties("c", "/pk").setDefaultTimeToLiveInSeconds(10).setUniqueKeyPolicy(unique);
    assertEquals(201, database.createContainerIfNotExists(properties).getStatusCode());
    assertEquals(200, database.createContainerIfNotExists(properties).getStatusCode());
    refused(409, 0, "already exists", () -> database.createContainer(properties));

    CosmosContainer container = database.getContainer("c");
    CosmosContainerProperties shown = container.read().getProperties();
    assertEquals(10, shown.getDefaultTimeToLiveInSeconds());
    assertEquals(List.of("/pk"), shown.getPartitionKeyDefinition().getPaths());
    assertEquals(List.of("/a"), shown.getUniqueKeyPolicy().getUniqueKeys().get(0).getPaths());
    assertEquals(IndexingMode.CONSISTENT, shown.getIndexingPolicy().getIndexingMode());
    assertEquals("/*", shown.getIndexingPolicy().getIncludedPaths().get(0).getPath());
    assertNotNull(shown.getResourceId());
    assertNotNull(shown.getETag());

    container("d", null);
    assertEquals(List.of("c", "d"),
        database.readAllContainers().stream().map(CosmosContainerProperties::getId).sorted().toList());
    assertEquals(List.of("d"),
        database.queryContainers("SELECT * FROM c WHERE c.id > 'c'").stream().map(CosmosContainerProperties::getId).toList());
    assertEquals(204, container.delete().getStatusCode());
    refused(404, 0, "", container::read);
  }

  @Test
  void replacingAContainer() {
    CosmosContainer container = container();
    CosmosContainerProperties properties = container.read().getProperties();
    assertNull(properties.getDefaultTimeToLiveInSeconds());
    for (Integer ttl : Arrays.asList(-1, 20, 30, null)) {
      CosmosContainerResponse answer = container.replace(properties.setDefaultTimeToLiveInSeconds(ttl));
      assertEquals(ttl, answer.getProperties().getDefaultTimeToLiveInSeconds());
      assertEquals(ttl, container.read().getProperties().getDefaultTimeToLiveInSeconds());
    }
    properties.setIndexingPolicy(
        new IndexingPolicy()
            .setIncludedPaths(List.of(new IncludedPath("/*")))
            .setExcludedPaths(List.of(new ExcludedPath("/big/*")))
            .setCompositeIndexes(List.of(List.of(
                new CompositePath().setPath("/a").setOrder(CompositePathSortOrder.ASCENDING),
                new CompositePath().setPath("/b").setOrder(CompositePathSortOrder.DESCENDING)))));
    container.replace(properties);
    List<CompositePath> found = container.read().getProperties().getIndexingPolicy().getCompositeIndexes().get(0);
    assertEquals("/b", found.get(1).getPath());
    assertEquals(CompositePathSortOrder.DESCENDING, found.get(1).getOrder());
    properties.getPartitionKeyDefinition().setPaths(List.of("/other"));
    refused(400, 0, "", () -> container.replace(properties));
  }

  @Test
  void noTtlWithoutAnIndex() {
    String why = expected.at("/texts/indexingNoneWithTtl").asText();
    IndexingPolicy none = new IndexingPolicy().setIndexingMode(IndexingMode.NONE).setAutomatic(false);
    CosmosContainerProperties properties = new CosmosContainerProperties("c", "/pk").setIndexingPolicy(none);
    properties.setDefaultTimeToLiveInSeconds(10);
    refused(400, 0, why, () -> database.createContainer(properties));
    CosmosContainer container = create(properties.setDefaultTimeToLiveInSeconds(null));
    CosmosContainerProperties found = container.read().getProperties();
    refused(400, 0, why, () -> container.replace(found.setDefaultTimeToLiveInSeconds(-1)));
  }

  @Test
  void throughput() {
    database.createContainer(new CosmosContainerProperties("c", "/pk"), ThroughputProperties.createManualThroughput(400));
    CosmosContainer manual = database.getContainer("c");
    assertEquals(400, manual.readThroughput().getProperties().getManualThroughput());
    manual.replaceThroughput(ThroughputProperties.createManualThroughput(500));
    assertEquals(500, manual.readThroughput().getProperties().getManualThroughput());
    database.createContainer(new CosmosContainerProperties("d", "/pk"), ThroughputProperties.createAutoscaledThroughput(4000));
    assertEquals(4000, database.getContainer("d").readThroughput().getProperties().getAutoscaleMaxThroughput());
  }

  @Test
  void usersAndPermissions() {
    CosmosContainer container = container();
    put(container, "{'id': '1', 'pk': 'a'}");
    database.createUser(new CosmosUserProperties().setId("u"));
    assertEquals("u", database.getUser("u").read().getProperties().getId());
    refused(409, 0, "already exists", () -> database.createUser(new CosmosUserProperties().setId("u")));
    assertEquals(1, database.readAllUsers().stream().count());
    try (CosmosAsyncClient async = builder(setting("EBB_HTTPS_ENDPOINT")).key(setting("EBB_KEY")).buildAsyncClient()) {
      CosmosAsyncUser user = async.getDatabase(database.getId()).getUser("u");
      CosmosPermissionProperties permission = user.createPermission(
          new CosmosPermissionProperties().setId("p").setContainerName("c").setPermissionMode(PermissionMode.READ), null)
          .block().getProperties();
      assertEquals(PermissionMode.READ, permission.getPermissionMode());
      assertTrue(permission.getToken().startsWith("type=resource&ver=1"), permission.getToken());
      try (CosmosClient reader = builder(setting("EBB_HTTPS_ENDPOINT")).resourceToken(permission.getToken()).buildClient()) {
        CosmosContainer there = reader.getDatabase(database.getId()).getContainer("c");
        assertEquals("1", there.readItem("1", A, JsonNode.class).getItem().get("id").asText());
        refused(403, 0, "", () -> there.createItem(item("{'id': '2', 'pk': 'a'}"), A, null));
      }
    }
    assertEquals(204, database.getUser("u").delete().getStatusCode());
    refused(404, 0, "", () -> database.getUser("u").read());
  }
}

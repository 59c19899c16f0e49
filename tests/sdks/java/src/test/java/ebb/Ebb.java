// One client for all tests, a database per test, the manual clock, and comparisons.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.function.Executable;

abstract class Ebb {
  static final String NO_ITEM = "Entity with the specified id does not exist in the system.";
  static final String EXISTS = "Entity with the specified id already exists in the system.";
  static final String NOT_MET = "One of the specified pre-condition is not met. Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed";
  static final PartitionKey A = new PartitionKey("a");
  static final PartitionKey B = new PartitionKey("b");

  /** Whether the tests use direct mode, the SDK's default, instead of gateway mode. */
  static final boolean DIRECT = "1".equals(System.getenv("DIRECT"));

  static final ObjectMapper JSON = new ObjectMapper();
  static final CosmosClient client = connect(setting("EBB_HTTPS_ENDPOINT"), setting("EBB_KEY"));
  static final JsonNode expected = expectations();

  CosmosDatabase database;

  @BeforeEach
  void fresh(TestInfo test) {
    String name = "java-" + test.getTestMethod().orElseThrow().getName();
    client.createDatabase(name);
    database = client.getDatabase(name);
  }

  @AfterEach
  void drop() {
    database.delete();
  }

  static String setting(String name) {
    String value = System.getenv(name);
    if (value == null) throw new IllegalStateException(name + " is not set");
    return value;
  }

  static CosmosClientBuilder builder(String endpoint) {
    CosmosClientBuilder builder = new CosmosClientBuilder().endpoint(endpoint).contentResponseOnWriteEnabled(true);
    return DIRECT ? builder : builder.gatewayMode();
  }

  static CosmosClient connect(String endpoint, String key) {
    return builder(endpoint).key(key).buildClient();
  }

  static JsonNode expectations() {
    try {
      return JSON.readTree(Files.readString(Path.of(setting("EBB_EXPECTATIONS"))));
    } catch (java.io.IOException error) {
      throw new IllegalStateException(error);
    }
  }

  CosmosContainer container() {
    return container("c", null);
  }

  /** A container by /pk; a null default is TTL off. */
  CosmosContainer container(String name, Integer ttl) {
    return create(new CosmosContainerProperties(name, "/pk").setDefaultTimeToLiveInSeconds(ttl));
  }

  CosmosContainer create(CosmosContainerProperties properties) {
    database.createContainer(properties);
    return database.getContainer(properties.getId());
  }

  /** A composite index, from its paths in a shared table. */
  static List<CompositePath> compositeIndex(JsonNode paths) {
    List<CompositePath> index = new ArrayList<>();
    paths.forEach(path -> index.add(new CompositePath().setPath(path.get("path").asText()).setOrder(
        path.get("order").asText().equals("ascending") ? CompositePathSortOrder.ASCENDING : CompositePathSortOrder.DESCENDING)));
    return index;
  }

  static CosmosContainerProperties hierarchical(String name, String... paths) {
    return new CosmosContainerProperties(
        name,
        new PartitionKeyDefinition()
            .setPaths(List.of(paths))
            .setKind(PartitionKind.MULTI_HASH)
            .setVersion(PartitionKeyDefinitionVersion.V2));
  }

  /** Moves the manual clock. */
  static void advance(long seconds) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(setting("EBB_ADMIN") + "/_ebb/clock"))
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString("{\"advance_seconds\": " + seconds + "}"))
              .build();
      HttpResponse<String> answer =
          HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
      assertEquals(200, answer.statusCode(), answer.body());
    } catch (java.io.IOException | InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  /** JSON with single quotes for double ones. */
  static ObjectNode item(String json) {
    return (ObjectNode) json(json);
  }

  static JsonNode json(String json) {
    try {
      return JSON.readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException error) {
      throw new IllegalStateException(error);
    }
  }

  static void equal(String want, Object got) {
    assertTrue(same(json(want), got), () -> "wanted " + json(want) + ", got " + got);
  }

  /** Compares by value: the SDK adds up in types of its own. */
  static boolean same(JsonNode want, Object got) {
    return want.equals(
        (left, right) -> left.isNumber() && right.isNumber() && left.asDouble() == right.asDouble() || left.equals(right) ? 0 : 1,
        JSON.<JsonNode>valueToTree(got));
  }

  /** An item without what the server adds. */
  static ObjectNode bare(JsonNode item) {
    ObjectNode bare = item.deepCopy();
    return bare.remove(List.of("_rid", "_self", "_etag", "_ts", "_attachments", "_lsn"));
  }

  static CosmosException refused(int status, int subStatus, String part, Executable call) {
    CosmosException error = assertThrows(CosmosException.class, call);
    assertEquals(status + "/" + subStatus, error.getStatusCode() + "/" + error.getSubStatusCode(), error.getShortMessage());
    String text = error.getMessage().replace("\\", "");
    assertTrue(text.contains(part.replace("\\", "")), () -> "wanted '" + part + "' in: " + text);
    return error;
  }

  static void put(CosmosContainer container, String... items) {
    for (String text : items) {
      ObjectNode item = item(text);
      container.createItem(item, new PartitionKey(item.get("pk").asText()), null);
    }
  }

  static ObjectNode read(CosmosContainer container, String id) {
    return bare(container.readItem(id, A, JsonNode.class).getItem());
  }

  static CosmosItemRequestOptions ifMatch(String etag) {
    return new CosmosItemRequestOptions().setIfMatchETag(etag);
  }

  static CosmosQueryRequestOptions within(PartitionKey key) {
    return new CosmosQueryRequestOptions().setPartitionKey(key);
  }

  /** A cross-partition query. */
  static List<JsonNode> query(CosmosContainer container, String sql) {
    return query(container, sql, new CosmosQueryRequestOptions());
  }

  static List<JsonNode> query(CosmosContainer container, String sql, CosmosQueryRequestOptions options) {
    List<JsonNode> found = new ArrayList<>();
    container.queryItems(sql, options, JsonNode.class).forEach(item -> found.add(value(item)));
    return found;
  }

  /** A scalar comes from the SDK in an object of its own. */
  static JsonNode value(JsonNode item) {
    return item.has("_value") ? item.get("_value") : item;
  }
}

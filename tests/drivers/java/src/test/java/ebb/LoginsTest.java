// Logging in: both mechanisms, a wrong password, and a right that is missing.
package ebb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import java.util.List;
import java.util.stream.Stream;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LoginsTest {
  static final String RIGHT = "ann’s password";
  static final Document LOGINS = Ebb.expected().get("logins", Document.class);
  static MongoClient root;

  /** What the table has, and the one that driver and server agree on. */
  static Stream<String> mechanisms() {
    return Stream.concat(LOGINS.getList("mechanisms", String.class).stream(), Stream.of(""));
  }

  static MongoClient login(MongoCredential credential) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(System.getenv("EBB_LOGIN_URI")));
    return MongoClients.create((credential == null ? settings : settings.credential(credential)).build());
  }

  static MongoClient ann(String mechanism, String password) {
    char[] text = password.toCharArray();
    return login(switch (mechanism) {
      case "SCRAM-SHA-1" -> MongoCredential.createScramSha1Credential("ann", "java", text);
      case "SCRAM-SHA-256" -> MongoCredential.createScramSha256Credential("ann", "java", text);
      default -> MongoCredential.createCredential("ann", "java", text);
    });
  }

  static MongoDatabase asRoot() {
    return root.getDatabase("java");
  }

  @BeforeAll
  static void makeAnn() {
    char[] password = System.getenv("EBB_LOGIN_PASSWORD").toCharArray();
    root = login(MongoCredential.createCredential("root", "admin", password));
    asRoot().getCollection("coll").insertOne(new Document("_id", 1));
    asRoot().runCommand(new Document("createUser", "ann").append("pwd", RIGHT).append("roles", List.of("read")));
    asRoot().runCommand(new Document("createUser", "old").append("pwd", RIGHT).append("roles", List.of())
        .append("mechanisms", LOGINS.getList("mechanisms", String.class).subList(0, 1)));
  }

  @AfterAll
  static void removeAnn() {
    asRoot().runCommand(new Document("dropAllUsersFromDatabase", 1));
    root.close();
  }

  static void missesRight(MongoClient client, String database) {
    MongoException error = assertThrows(MongoException.class, () -> client.getDatabase(database).getCollection("other").find().first());
    assertEquals(LOGINS.getInteger("missingRight"), error.getCode(), error::getMessage);
  }

  @ParameterizedTest
  @MethodSource("mechanisms")
  void aUserLogsIn(String mechanism) {
    try (MongoClient client = ann(mechanism, RIGHT)) {
      MongoDatabase db = client.getDatabase("java");
      assertEquals(new Document("_id", 1), db.getCollection("coll").find().first());
      MongoException error = assertThrows(MongoException.class, () -> db.getCollection("coll").insertOne(new Document()));
      assertEquals(LOGINS.getInteger("missingRight"), error.getCode(), error::getMessage);
      missesRight(client, "other");
    }
  }

  @Test
  void aUserOfTheOlderMechanismAlone() {
    try (MongoClient client = login(MongoCredential.createCredential("old", "java", RIGHT.toCharArray()))) {
      assertEquals(1.0, client.getDatabase("admin").runCommand(new Document("ping", 1)).getDouble("ok"));
    }
  }

  @ParameterizedTest
  @MethodSource("mechanisms")
  void aWrongPasswordIsRefused(String mechanism) {
    try (MongoClient client = ann(mechanism, "wrong")) {
      MongoSecurityException error =
          assertThrows(MongoSecurityException.class, () -> client.getDatabase("java").getCollection("coll").find().first());
      MongoCommandException cause = assertInstanceOf(MongoCommandException.class, error.getCause());
      assertEquals(LOGINS.getInteger("wrongPassword"), cause.getErrorCode(), cause::getMessage);
    }
  }

  @Test
  void whoDoesNotLogInIsTold() {
    try (MongoClient client = login(null)) {
      missesRight(client, "java");
    }
  }
}

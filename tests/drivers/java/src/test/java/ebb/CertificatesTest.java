// TLS, and logging in with a certificate: who is let in, and what the others are told.
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
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CertificatesTest {
  static final String SUBJECT = "CN=ann,OU=drivers,O=ebb";
  static final Document LOGINS = Ebb.expected().get("logins", Document.class);
  static MongoClient root;

  static List<String> mechanisms() {
    return LOGINS.getList("mechanisms", String.class);
  }

  static InputStream file(String name) throws Exception {
    return Files.newInputStream(Path.of(System.getenv("EBB_TLS"), name));
  }

  /** Believes this authority, and shows the certificate of this client; null shows none. */
  static SSLContext context(String authority, String client) throws Exception {
    KeyStore believed = KeyStore.getInstance(KeyStore.getDefaultType());
    believed.load(null, null);
    try (InputStream read = file(authority + ".pem")) {
      believed.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(read));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(believed);
    KeyManager[] shown = null;
    if (client != null) {
      char[] password = "test".toCharArray();
      KeyStore own = KeyStore.getInstance("PKCS12");
      try (InputStream read = file(client + ".p12")) {
        own.load(read, password);
      }
      KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, password);
      shown = keys.getKeyManagers();
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(shown, trust.getTrustManagers(), null);
    return context;
  }

  static MongoClient overTls(String authority, String client, MongoCredential credential) throws Exception {
    SSLContext context = context(authority, client);
    int patience = "other".equals(authority) ? Ebb.REFUSAL : Ebb.PATIENCE;
    MongoClientSettings.Builder settings = MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(System.getenv("EBB_LOGIN_URI")))
        .applyToClusterSettings(it -> it.serverSelectionTimeout(patience, TimeUnit.SECONDS))
        .applyToSslSettings(it -> it.enabled(true).context(context));
    return MongoClients.create((credential == null ? settings : settings.credential(credential)).build());
  }

  static MongoClient withCertificate(String name) throws Exception {
    return overTls("ca", name, MongoCredential.createMongoX509Credential());
  }

  static MongoClient asRoot(String mechanism) throws Exception {
    char[] password = System.getenv("EBB_LOGIN_PASSWORD").toCharArray();
    return overTls("ca", null, mechanism.equals("SCRAM-SHA-1")
        ? MongoCredential.createScramSha1Credential("root", "admin", password)
        : MongoCredential.createScramSha256Credential("root", "admin", password));
  }

  @BeforeAll
  static void makeAnn() throws Exception {
    root = asRoot("SCRAM-SHA-256");
    root.getDatabase("tls").getCollection("coll").insertOne(new Document("_id", 1));
    Document role = new Document("role", "read").append("db", "tls");
    root.getDatabase("$external").runCommand(new Document("createUser", SUBJECT).append("roles", List.of(role)));
  }

  @AfterAll
  static void removeAnn() {
    root.getDatabase("$external").runCommand(new Document("dropAllUsersFromDatabase", 1));
    root.close();
  }

  @Test
  void aUserLogsInWithHerCertificate() throws Exception {
    try (MongoClient client = withCertificate("ann")) {
      MongoDatabase db = client.getDatabase("tls");
      assertEquals(new Document("_id", 1), db.getCollection("coll").find().first());
      MongoException error = assertThrows(MongoException.class, () -> db.getCollection("coll").insertOne(new Document()));
      assertEquals(LOGINS.getInteger("missingRight"), error.getCode(), error::getMessage);
      LoginsTest.missesRight(client, "other");
    }
  }

  /** Nobody's, and one whose authority the server does not name, which Java does not show. */
  @ParameterizedTest
  @ValueSource(strings = {"eve", "stranger"})
  void aCertificateThatNoUserHasIsRefused(String name) throws Exception {
    try (MongoClient client = withCertificate(name)) {
      MongoSecurityException error =
          assertThrows(MongoSecurityException.class, () -> client.getDatabase("tls").getCollection("coll").find().first());
      MongoCommandException cause = assertInstanceOf(MongoCommandException.class, error.getCause());
      assertEquals(LOGINS.getInteger("wrongPassword"), cause.getErrorCode(), cause::getMessage);
    }
  }

  @Test
  void aServerThatIsNotBelieved() throws Exception {
    try (MongoClient client = overTls("other", null, null)) {
      Document ping = new Document("ping", 1);
      assertThrows(MongoTimeoutException.class, () -> client.getDatabase("admin").runCommand(ping));
    }
  }

  @ParameterizedTest
  @MethodSource("mechanisms")
  void passwordsAndTls(String mechanism) throws Exception {
    try (MongoClient client = asRoot(mechanism)) {
      assertEquals(1.0, client.getDatabase("admin").runCommand(new Document("ping", 1)).getDouble("ok"));
    }
  }
}

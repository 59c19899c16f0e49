using System.Security.Cryptography.X509Certificates;
using MongoDB.Bson;
using MongoDB.Driver;

/// <summary>Logins with the driver's default settings, at a server that asks for them, and TLS.</summary>
public class LoginTests
{
    static readonly string? Host = Environment.GetEnvironmentVariable("EBB_LOGIN_HOST");
    static readonly string Password = Setting.Of("EBB_LOGIN_PASSWORD", "");
    const string Hard = "päss wörd/@:%";
    static readonly MongoClient Root = new($"mongodb://root:{Password}@{Host}/?authSource=admin");
    readonly IMongoDatabase db = Root.GetDatabase($"login-{Guid.NewGuid():N}");

    void NewUser(string name, string password, string role, string? mechanism = null)
    {
        var command = new BsonDocument { { "createUser", name }, { "pwd", password }, { "roles", new BsonArray { role } } };
        if (mechanism != null) command.Add("mechanisms", new BsonArray { mechanism });
        db.RunCommand<BsonDocument>(command);
    }

    string Name => db.DatabaseNamespace.DatabaseName;

    IMongoCollection<BsonDocument> As(string user, string password, string options = "") =>
        new MongoClient($"mongodb://{user}:{Uri.EscapeDataString(password)}@{Host}/?authSource={Name}{options}")
            .GetDatabase(Name).GetCollection<BsonDocument>("c");

    [Fact]
    public void EveryMechanism()
    {
        NewUser("ann", Hard, "readWrite");
        NewUser("new", "n", "readWrite", "SCRAM-SHA-256");
        NewUser("old", "o", "readWrite", "SCRAM-SHA-1");
        As("ann", Hard).InsertOne(Json());
        As("ann", Hard, "&authMechanism=SCRAM-SHA-256").InsertOne(Json());
        As("ann", Hard, "&authMechanism=SCRAM-SHA-1").InsertOne(Json());
        As("new", "n").InsertOne(Json());
        As("old", "o").InsertOne(Json());
        Assert.Equal(5, As("ann", Hard).CountDocuments("{}"));
    }

    static BsonDocument Json() => new("n", 1);

    [Fact]
    public void WhatIsRefused()
    {
        NewUser("ann", "a", "read");
        var wrong = Assert.Throws<MongoAuthenticationException>(() => As("ann", "x").CountDocuments("{}"));
        Assert.Equal(18, Assert.IsType<MongoCommandException>(wrong.InnerException).Code);
        Assert.Equal(13, Assert.Throws<MongoCommandException>(() => As("ann", "a").InsertOne(Json())).Code);
        var nobody = new MongoClient($"mongodb://{Host}").GetDatabase(Name).GetCollection<BsonDocument>("c");
        Assert.Equal(13, Assert.Throws<MongoCommandException>(() => nobody.CountDocuments("{}")).Code);
    }

    [Fact]
    public async Task Tls()
    {
        using var http = new HttpClient();
        var pem = await http.GetStringAsync(Setting.Of("EBB_LOGIN_CERTIFICATE", ""));
        using var root = X509Certificate2.CreateFromPem(pem);
        var settings = MongoClientSettings.FromConnectionString($"mongodb://root:{Password}@{Host}/?tls=true");
        settings.SslSettings = new SslSettings
        {
            ServerCertificateValidationCallback = (_, certificate, _, _) =>
                certificate!.GetCertHashString() == root.GetCertHashString(),
        };
        new MongoClient(settings).GetDatabase("admin").RunCommand<BsonDocument>("{ping: 1}");
        var stranger = new MongoClient(
            $"mongodb://root:{Password}@{Host}/?tls=true&serverSelectionTimeoutMS=500");
        Assert.Throws<TimeoutException>(() => stranger.GetDatabase("admin").RunCommand<BsonDocument>("{ping: 1}"));
    }
}

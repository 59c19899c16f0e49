using System.Net;
using Microsoft.Azure.Cosmos;

/// <summary>Users, permissions, and clients with the token of a permission in place of a key.</summary>
public class TokenTests : CosmosTest
{
    Container c = null!;
    User user = null!;

    public override async Task InitializeAsync()
    {
        await base.InitializeAsync();
        c = await NewContainer();
        await c.CreateItemAsync(new Item("1", "a", 1));
        await c.CreateItemAsync(new Item("2", "b", 2));
        user = await Db.CreateUserAsync("ada");
    }

    async Task<Container> As(PermissionProperties permission)
    {
        PermissionProperties made = await user.CreatePermissionAsync(permission);
        return new CosmosClient(Endpoint, made.Token, Options()).GetContainer(Db.Id, "c");
    }

    [Fact]
    public async Task UsersAndPermissions()
    {
        Assert.Equal("ada", (await user.ReadAsync()).Resource.Id);
        Assert.Equal(HttpStatusCode.OK, (await Db.UpsertUserAsync("ada")).StatusCode);
        Assert.Single(await All(Db.GetUserQueryIterator<UserProperties>("SELECT * FROM c WHERE c.id = 'ada'")));
        await user.CreatePermissionAsync(new PermissionProperties("read", PermissionMode.Read, c), 3600);
        Assert.Single(await All(user.GetPermissionQueryIterator<PermissionProperties>()));
        var permission = user.GetPermission("read");
        Assert.Equal(PermissionMode.Read, (await permission.ReadAsync(600)).Resource.PermissionMode);
        await permission.ReplaceAsync(new PermissionProperties("read", PermissionMode.All, c));
        Assert.Equal(HttpStatusCode.NoContent, (await permission.DeleteAsync()).StatusCode);
        Assert.Equal(HttpStatusCode.NoContent, (await user.DeleteAsync()).StatusCode);
    }

    [Fact]
    public async Task TheTokenOfAContainer()
    {
        var reader = await As(new PermissionProperties("read", PermissionMode.Read, c));
        Assert.Equal(1, (await reader.ReadItemAsync<Item>("1", Pk("a"))).Resource.n);
        Assert.Equal([1, 2], await Query<int>(reader, "SELECT VALUE c.n FROM c ORDER BY c.n"));
        await Fails(403, () => reader.CreateItemAsync(new Item("3", "a"), Pk("a")));
    }

    [Fact]
    public async Task TheTokenOfAPartitionKey()
    {
        var writer = await As(new PermissionProperties("keyed", PermissionMode.All, c, Pk("a")));
        Assert.Equal(HttpStatusCode.Created, (await writer.CreateItemAsync(new Item("3", "a"), Pk("a"))).StatusCode);
        var within = new QueryRequestOptions { PartitionKey = Pk("a") };
        Assert.Equal(2, (await Query<Item>(writer, "SELECT * FROM c", within)).Count);
        await Fails(403, () => writer.ReadItemAsync<Item>("2", Pk("b")));
    }

    [Fact]
    public async Task TheTokenOfAnItem()
    {
        var reader = await As(new PermissionProperties("item", PermissionMode.Read, c, Pk("b"), "2"));
        Assert.Equal(2, (await reader.ReadItemAsync<Item>("2", Pk("b"))).Resource.n);
        await Fails(403, () => reader.ReadItemAsync<Item>("1", Pk("a")));
        await Fails(403, () => reader.UpsertItemAsync(new Item("2", "b"), Pk("b")));
    }
}

// First programs in mongosh, Python and Node.
import { endpoint, mongoUri } from '../../../pure/address';
import type { Platform } from './snippet';

export const mongosh: Platform = {
  key: 'mongosh',
  label: 'mongosh',
  mongo: (address) => ({
    title: 'mongosh',
    install: `mongosh "${mongoUri(address, 'app')}"`,
    code: `db.sessions.createIndex({ _ts: 1 }, { expireAfterSeconds: 3600 })  // an hour after the last write
db.sessions.insertOne({ user: "ada" })              // expires in an hour
db.sessions.insertOne({ user: "bob", ttl: 60 })     // expires in a minute
db.sessions.insertOne({ user: "root", ttl: -1 })    // never expires
db.runCommand({ ebbExpiry: "sessions" })            // what expires, and when
`,
  }),
  nosql: null,
};

export const python: Platform = {
  key: 'python',
  label: 'Python',
  mongo: (address) => ({
    title: 'pymongo',
    install: 'pip install pymongo',
    code: `from pymongo import MongoClient

sessions = MongoClient("${mongoUri(address)}").app.sessions
sessions.create_index("_ts", expireAfterSeconds=3600)  # an hour after the last write
sessions.insert_one({"user": "ada"})                   # expires in an hour
sessions.insert_one({"user": "bob", "ttl": 60})        # expires in a minute
sessions.insert_one({"user": "root", "ttl": -1})       # never expires
print(sessions.count_documents({}), "are alive")
`,
  }),
  nosql: (address, key) => ({
    title: 'azure-cosmos',
    install: 'pip install azure-cosmos',
    code: `from azure.cosmos import CosmosClient, PartitionKey

client = CosmosClient("${endpoint(address)}", "${key}")
database = client.create_database_if_not_exists("app")
sessions = database.create_container_if_not_exists(
    "sessions", PartitionKey("/user"), default_ttl=3600)       # an hour after the last write
sessions.upsert_item({"id": "1", "user": "ada"})               # expires in an hour
sessions.upsert_item({"id": "2", "user": "bob", "ttl": 60})    # expires in a minute
sessions.upsert_item({"id": "3", "user": "root", "ttl": -1})   # never expires
print(len(list(sessions.read_all_items())), "are alive")
`,
  }),
};

export const node: Platform = {
  key: 'node',
  label: 'Node',
  mongo: (address) => ({
    title: 'mongodb',
    install: 'npm install mongodb',
    code: `// first.mjs
import { MongoClient } from 'mongodb';

const client = new MongoClient('${mongoUri(address)}');
const sessions = client.db('app').collection('sessions');
await sessions.createIndex({ _ts: 1 }, { expireAfterSeconds: 3600 }); // an hour after the last write
await sessions.insertMany([
  { user: 'ada' },             // expires in an hour
  { user: 'bob', ttl: 60 },    // expires in a minute
  { user: 'root', ttl: -1 },   // never expires
]);
console.log(await sessions.countDocuments(), 'are alive');
await client.close();
`,
  }),
  nosql: (address, key) => ({
    title: '@azure/cosmos',
    install: 'npm install @azure/cosmos',
    code: `// first.mjs
import { CosmosClient } from '@azure/cosmos';

const client = new CosmosClient({
  endpoint: '${endpoint(address)}',
  key: '${key}',
});
const { database } = await client.databases.createIfNotExists({ id: 'app' });
const { container: sessions } = await database.containers.createIfNotExists({
  id: 'sessions',
  partitionKey: { paths: ['/user'] },
  defaultTtl: 3600, // an hour after the last write
});
await sessions.items.upsert({ id: '1', user: 'ada' });            // expires in an hour
await sessions.items.upsert({ id: '2', user: 'bob', ttl: 60 });   // expires in a minute
await sessions.items.upsert({ id: '3', user: 'root', ttl: -1 });  // never expires
`,
  }),
};
